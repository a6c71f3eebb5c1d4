"""The SQL contract from Python: prints nothing when everything holds.

    app.py DATABASE
"""
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL)")

NOTIFY = """INSERT INTO notification_outbox (dedup_key, channel, recipient, payload) VALUES (?, 'mail', ?, ?)
            ON CONFLICT (dedup_key) DO NOTHING"""


def count(where="1"):
    return db.execute(f"SELECT count(*) FROM notification_outbox WHERE {where}").fetchone()[0]


# Together with the application's own change, or not at all.
db.execute("BEGIN")
db.execute("INSERT INTO orders VALUES (41, 'paid')")
db.execute(NOTIFY, ("order-paid:41", "a@example.com", '{"body":"never"}'))
assert count() == 1
db.execute("ROLLBACK")
assert count() == 0 and db.execute("SELECT count(*) FROM orders").fetchone()[0] == 0

db.execute("BEGIN IMMEDIATE")
db.execute("INSERT INTO orders VALUES (42, 'paid')")
assert db.execute(NOTIFY, ("order-paid:42", "a@example.com", '{"subject":"Paid","body":"고맙습니다"}')).rowcount == 1
db.execute("COMMIT")

# The same key again adds nothing, by any of the usual ways.
assert db.execute(NOTIFY, ("order-paid:42", "a@example.com", '{"body":"again"}')).rowcount == 0
assert db.execute(NOTIFY.replace("INSERT", "INSERT OR IGNORE", 1).split("ON CONFLICT")[0],
                  ("order-paid:42", "a@example.com", '{"body":"x"}')).rowcount == 0
assert count() == 1

# Every optional column, by executemany, without a key.
db.executemany("INSERT INTO notification_outbox (channel, recipient, payload, kind, category, not_before, expires_at, priority,"
               " correlation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
               [("sms", "+821000000000", '{"body":"x"}', "CODE", "advertising", 1795958769000, 4102444800000, 9, "c-1"),
                ("sms", "+821000000001", '{"body":"x"}', "CODE", "transactional", None, None, 0, "")])
assert count("channel = 'sms' AND status = 'PENDING' AND ready_at >= created_at") == 2

# What the relay could not handle is refused, aloud.
for row in [("k1", "mail", "", '{"body":"x"}'), ("k2", "Mail", "a", '{"body":"x"}'), ("k3", "mail", "a\r\nBcc: b", '{"body":"x"}'), ("k4", "mail", "a", "text"),
            ("", "mail", "a", '{"body":"x"}'), ("k5", "mail", "a", "[]"), ("k6", "mail", "a", None), ("k7", "mail", "a", b'{"body":"x"}'),
            ("k8", "mail", "a\u202egpj", '{"body":"x"}'), ("k9", "mail", "a", "{}")]:
    for how in ("INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE"):
        try:
            db.execute(how + " INTO notification_outbox (dedup_key, channel, recipient, payload) VALUES (?, ?, ?, ?)", row)
        except sqlite3.IntegrityError:
            continue
        sys.exit(f"{how} took {row}")
assert count() == 3

# REPLACE would send a message a second time.
try:
    db.execute("REPLACE INTO notification_outbox (dedup_key, channel, recipient, payload)"
               " VALUES ('order-paid:42', 'mail', 'a', '{\"body\":\"x\"}')")
    sys.exit("REPLACE was taken")
except sqlite3.IntegrityError as error:
    assert "ON CONFLICT (dedup_key) DO NOTHING" in str(error), error
try:
    db.execute("DELETE FROM notification_outbox")
    sys.exit("DELETE was taken")
except sqlite3.IntegrityError as error:
    assert "never deleted" in str(error), error
db.close()
