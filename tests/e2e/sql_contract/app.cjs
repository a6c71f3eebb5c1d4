// The SQL contract from Node: prints nothing when everything holds.
//
//   app.cjs DATABASE
'use strict';
const assert = require('node:assert');

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

const db = open(process.argv[2]);
db.exec('PRAGMA busy_timeout = 10000');
db.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL)');
const notify = db.prepare(`INSERT INTO notification_outbox (dedup_key, channel, recipient, payload)
                           VALUES (?, 'mail', ?, ?) ON CONFLICT (dedup_key) DO NOTHING`);
const count = () => Number(db.prepare('SELECT count(*) AS n FROM notification_outbox').get().n);

// Together with the application's own change, or not at all.
db.exec('BEGIN');
db.exec("INSERT INTO orders VALUES (41, 'paid')");
notify.run('order-paid:41', 'a@example.com', JSON.stringify({ body: 'never' }));
assert.strictEqual(count(), 1);
db.exec('ROLLBACK');
assert.strictEqual(count(), 0);

db.exec('BEGIN IMMEDIATE');
db.exec("INSERT INTO orders VALUES (42, 'paid')");
assert.strictEqual(Number(notify.run('order-paid:42', 'a@example.com', JSON.stringify({ body: '고맙습니다' })).changes), 1);
db.exec('COMMIT');
assert.strictEqual(Number(notify.run('order-paid:42', 'a@example.com', '{"body":"x"}').changes), 0);
assert.strictEqual(count(), 1);

// Numbers are doubles here, and bound as such: milliseconds fit.
db.prepare(`INSERT INTO notification_outbox (channel, recipient, payload, not_before, expires_at, priority)
            VALUES ('sms', '+821000000000', '{"body":"x"}', ?, ?, ?)`).run(1795958769000, 4102444800000, 9);
assert.strictEqual(count(), 2);

for (const row of [['', 'a', '{"body":"x"}'], ['k', '', '{"body":"x"}'], ['k', 'a', 'text'], ['k', 'a\n', '{"body":"x"}'], ['k', 'a', null]])
  assert.throws(() => notify.run(...row), /notification_outbox/, JSON.stringify(row));
assert.throws(() => db.prepare(`REPLACE INTO notification_outbox (dedup_key, channel, recipient, payload)
                                VALUES ('order-paid:42', 'mail', 'a', '{"body":"x"}')`).run(), /DO NOTHING/);
assert.strictEqual(count(), 2);
db.close();
