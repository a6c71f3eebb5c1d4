#!/bin/sh
# Prints N messages (default 1000) as JSON lines, always the same ones.
#   examples/quickstart/messages.sh [N]
exec awk -v count="${1:-1000}" 'BEGIN {
  split("paid packed shipped delivered", state, " ")
  for (i = 1; i <= count; i++) {
    word = state[1 + i % 4]
    printf "{\"channel\":\"orders\",\"to\":\"+8210000%05d\",\"key\":\"order-%s:%d\",\"kind\":\"order-%s\",", i, word, i, word
    printf "\"subject\":\"Order %d\",\"body\":\"Your order %d is %s. 주문 %d\",\"data\":{\"order\":%d,\"state\":\"%s\"},", i, i, word, i, i, word
    printf "\"priority\":%d}\n", i % 10
  }
}'
