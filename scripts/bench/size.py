"""Targets 7 and 10: what millions of finished messages cost those that are not."""
import shutil
import sqlite3
import threading
import time

from installation import Site
from lab import Failure, median, median_ratio, thousands

BYTES_A_MESSAGE = 700  # in the seeded database, with its keys
PER_TRANSACTION = 100_000

SEED_OUTBOX = """
INSERT INTO notification_outbox (id, status, due_at, ready_at, created_at, updated_at, channel, kind, recipient,
                                 dedup_key, fingerprint, payload)
SELECT value, 'PUBLISHED', ?3, ?3, ?3, ?3, 'hook', 'GRADE_LOCK_IN', 'device-' || value, 'seed:' || (1000000000 + value),
       randomblob(32), '{"subject":"Your grades are final","body":"' || hex(randomblob(60)) || '"}'
  FROM (WITH RECURSIVE n(value) AS (SELECT ?1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2) SELECT value FROM n)
"""
SEED_INBOX = """
INSERT INTO notification_inbox (message_id, outbox_id, channel, status, claim_token, holder, claimed_at, first_call_at,
                                calls, vendor_status, settled_at, created_at, updated_at)
SELECT ?4 || value, value, 'hook', 'SENT', value, 1, ?3, ?3, 1, 200, ?3, ?3, ?3
  FROM (WITH RECURSIVE n(value) AS (SELECT ?1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2) SELECT value FROM n)
"""


def many_finished_rows(lab):
    wanted = lab.scale(5_000_000, 300_000)
    free = shutil.disk_usage(lab.tmp).free
    finished = min(wanted, int(free * 0.7) // BYTES_A_MESSAGE)
    nginx, url = lab.nginx()
    small, large = Site(lab, "small", url), Site(lab, "large", url)
    begun = time.monotonic()
    seed(small, 10_000)
    seed(large, finished)
    lab.keep("7 10", finished=finished, seeding_seconds=round(time.monotonic() - begun, 1))
    if finished < wanted:
        print(f"      the disk has room for {thousands(finished)} finished messages only", flush=True)
    time_a_message(lab, small, large, finished)
    lab.stop(nginx)
    status(lab, large, finished)


def seed(site, finished):
    """Puts in finished messages as if they had been sent long ago, without the checks that new rows go through."""
    site.enqueue(1)
    with site.connect() as db:
        message_id = site.lab.run(*site.command("enqueue", "--channel", "hook", "--to", "x", "--key", "seed",
                                                 "--body", "seed")).strip()
        prefix = message_id.rsplit("-", 1)[0] + "-"
        first = int(message_id.rsplit("-", 1)[1]) + 1
        at = int(time.time() * 1000) - 3_600_000
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        db.execute("PRAGMA ignore_check_constraints=ON")
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA cache_size=-200000")
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        for start in range(first, first + finished, PER_TRANSACTION):
            end = min(start + PER_TRANSACTION, first + finished) - 1
            db.execute("BEGIN IMMEDIATE")
            db.execute(SEED_OUTBOX, (start, end, at))
            db.execute(SEED_INBOX, (start, end, at, prefix))
            db.execute("COMMIT")
        for _, sql in triggers:
            db.execute(sql)
        for name in ("enqueued", "outbox.PUBLISHED", "inbox.SENT"):
            db.execute("INSERT INTO notification_counter (bucket, name, value) VALUES (0, ?1, ?2) "
                       "ON CONFLICT (bucket, name) DO UPDATE SET value = value + ?2", (name, finished))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    site.run("relay")
    site.run("work", "--drain")


def time_a_message(lab, small, large, finished):
    """relay, and work to a vendor that answers at once, in both databases in turn."""
    messages, rounds = lab.scale(10_000, 4_000), lab.scale(3, 2)
    raw = {"relay": {"small": [], "large": []}, "work": {"small": [], "large": []}}
    for turn in range(rounds):
        for name, site in (("small", small), ("large", large)):
            site.enqueue(messages, first=turn * messages + 10)
        for command in (["relay"], ["work", "--drain"]):
            for name, site in (("small", small), ("large", large)):
                raw[command[0]][name].append(lab.seconds(site.command(*command))[0])
    lab.keep("7 10", messages=messages, **raw)
    for command, times in raw.items():
        ratio = median_ratio(times["large"], times["small"])
        us = {name: median(values) / messages * 1e6 for name, values in times.items()}
        lab.report("7", f"{command} with {thousands(finished)} finished messages", f"{ratio:.2f} ×", "≤ 2 ×", ratio <= 2,
                   f"{us['large']:.0f} µs a message against {us['small']:.0f} with 10,000")


def status(lab, site, finished):
    """How long `status` takes, and whether a writer that does not wait is ever turned away meanwhile."""
    stop, counts = threading.Event(), {"commits": 0, "busy": 0}
    writer = threading.Thread(target=write_without_waiting, args=(site, stop, counts))
    writer.start()
    try:
        text, as_json = lab.processes(lab.scale(15, 7), site.command("status"), site.command("status", "--json"))
    finally:
        stop.set()
        writer.join()
    lab.keep("7 10", status=text, status_json=as_json, writer=counts)
    seconds = median(text["us"]) / 1e6
    lab.report("10", f"status with {thousands(finished)} messages", f"{seconds:.3f} s", "≤ 0.3 s", seconds <= 0.3,
               f"--json {median(as_json['us']) / 1e6:.3f} s, worst {max(text['us'] + as_json['us']) / 1e6:.3f} s")
    lab.report("10", "  commits refused meanwhile", str(counts["busy"]), "0", counts["busy"] == 0,
               f"of {thousands(counts['commits'] + counts['busy'])} without a busy timeout")
    if counts["commits"] == 0:
        raise Failure("the writer beside status committed nothing")


def write_without_waiting(site, stop, counts):
    with site.connect(timeout=0) as db:
        while not stop.is_set():
            try:
                db.execute("INSERT INTO notification_outbox (channel, recipient, payload) VALUES ('hook', 'x', "
                           "'{\"body\":\"x\"}')")
                counts["commits"] += 1
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                counts["busy"] += 1
            time.sleep(0.001)
    db.close()
