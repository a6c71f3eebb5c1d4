#!/bin/sh
# A batch job that tells every customer of a list that the grades are locked in.
#
#   examples/shell/producer.sh CUSTOMERS.csv        (lines "id,phone")
#
# Run it again after a failure, or twice by mistake: the keys name the occasion, so nothing is sent twice. notifyctl
# is found in PATH or by $NOTIFYCTL; the database by its configuration or NOTIFYCTL_DB.
set -eu

customers=${1:?usage: producer.sh CUSTOMERS.csv}
notifyctl=${NOTIFYCTL:-notifyctl}
occasion=GRADE_LOCK_IN:2026-11

# One message at a time, each durable when the command returns.
"$notifyctl" enqueue --channel ops --to grades-job --key "$occasion:started" --kind GRADE_LOCK_IN \
  --body "locking in the grades of $(wc -l < "$customers") customers" > /dev/null

# Many at once: one process, bounded transactions. Bad lines are named on stderr and kept in rejects.jsonl, the good
# ones are taken; exit status 1 then.
awk -F, -v occasion="$occasion" '{
  printf "{\"channel\":\"sms\",\"to\":\"%s\",\"key\":\"%s:%s\",\"kind\":\"GRADE_LOCK_IN\",", $2, occasion, $1
  printf "\"body\":\"Your grade for November is locked in.\",\"expires\":\"+3d\"}\n"
}' "$customers" | "$notifyctl" enqueue --jsonl - --rejects rejects.jsonl > /dev/null
