#!/usr/bin/env python3
"""An application that sends a notification together with its own change, or not at all.

    notifyctl --db shop.db init --wal      once: the tables of notifyctl in the application's own database
    producer.py shop.db ORDER ADDRESS      takes the payment of an order and notifies the customer
    producer.py shop.db ORDER ADDRESS --fail      the same, but the application fails before its commit

Nothing of notifyctl is imported: the row in notification_outbox is part of the application's transaction.
"""
import json
import sqlite3
import sys


def pay(db: sqlite3.Connection, order: int, address: str, fail: bool) -> None:
    payload = {"subject": "Paid", "body": f"Your order {order} is paid. Thank you!", "data": {"order": order}}
    with db:  # commits, or rolls back on an exception
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO orders (id, state) VALUES (?, 'paid') ON CONFLICT (id) DO UPDATE SET state = 'paid'",
                   (order,))
        db.execute("INSERT INTO notification_outbox (dedup_key, channel, recipient, kind, payload)"
                   " VALUES (?, 'orders', ?, 'order-paid', ?) ON CONFLICT (dedup_key) DO NOTHING",
                   (f"order-paid:{order}", address, json.dumps(payload, ensure_ascii=False)))
        if fail:
            raise RuntimeError("the payment was refused")


def main() -> None:
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    # isolation_level None: the transaction is exactly what BEGIN and COMMIT say.
    db = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
    db.execute("PRAGMA synchronous = FULL")  # a committed order, and its notification, survive a power cut
    db.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL)")
    pay(db, int(sys.argv[2]), sys.argv[3], "--fail" in sys.argv)
    db.close()


if __name__ == "__main__":
    main()
