#!/usr/bin/env node
// An application that sends a notification together with its own change, or not at all.
//
//   notifyctl --db shop.db init --wal      once: the tables of notifyctl in the application's own database
//   producer.js shop.db ORDER ADDRESS      takes the payment of an order and notifies the customer
//   producer.js shop.db ORDER ADDRESS --fail      the same, but the application fails before its commit
//
// Nothing of notifyctl is loaded: the row in notification_outbox is part of the application's transaction. SQLite comes
// with Node since version 22.5; before, with the package better-sqlite3, whose calls are the same.
'use strict';

function open(file) {
  try {
    const { DatabaseSync } = require('node:sqlite');
    return new DatabaseSync(file);
  } catch (error) {
    if (!['ERR_UNKNOWN_BUILTIN_MODULE', 'MODULE_NOT_FOUND'].includes(error.code)) throw error;
    const Database = require('better-sqlite3');
    return new Database(file);
  }
}

function transaction(db, work) {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

function pay(db, order, address, fail) {
  const payload = { subject: 'Paid', body: `Your order ${order} is paid. Thank you!`, data: { order } };
  transaction(db, () => {
    db.prepare(`INSERT INTO orders (id, state) VALUES (?, 'paid') ON CONFLICT (id) DO UPDATE SET state = 'paid'`)
      .run(order);
    db.prepare(`INSERT INTO notification_outbox (dedup_key, channel, recipient, kind, payload)
                VALUES (?, 'orders', ?, 'order-paid', ?) ON CONFLICT (dedup_key) DO NOTHING`)
      .run(`order-paid:${order}`, address, JSON.stringify(payload));
    if (fail) throw new Error('the payment was refused');
  });
}

const [file, order, address, flag] = process.argv.slice(2);
if (address === undefined) {
  console.error('usage: producer.js DATABASE ORDER ADDRESS [--fail]');
  process.exit(64);
}
const db = open(file);
db.exec('PRAGMA busy_timeout = 10000');
db.exec('PRAGMA synchronous = FULL'); // a committed order, and its notification, survive a power cut
db.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL)');
pay(db, Number(order), address, flag === '--fail');
db.close();
