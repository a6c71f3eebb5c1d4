"""Targets 1 to 3: how messages get in."""
import contextlib
import csv
import json

from installation import Site, line, write_lines
from lab import Failure, median, median_ratio, percentile, thousands

# The table that a careful user would have made: the same members, the key, and an index of what waits. No checks.
PLAIN_TABLE = """
PRAGMA journal_mode=WAL;
CREATE TABLE outbox (dedup_key TEXT UNIQUE, channel TEXT NOT NULL, kind TEXT NOT NULL, recipient TEXT NOT NULL,
                     priority INTEGER NOT NULL, status TEXT NOT NULL, ready_at INTEGER NOT NULL, payload TEXT NOT NULL);
CREATE INDEX outbox_pending ON outbox (channel, priority, ready_at) WHERE status = 'PENDING';
"""
SHELL_INSERT = """PRAGMA synchronous=FULL; INSERT INTO notification_outbox (dedup_key, channel, recipient, payload)
VALUES ('disk-full:%n', 'hook', 'team', '{"subject":"Disk full","body":"db1: 97 %"}');"""


def one(lab):
    """`enqueue` of one message against the sqlite3 shell inserting into the same table."""
    rows, rounds = lab.scale(100_000, 10_000), lab.scale(150, 40)
    ours, theirs = Site(lab, "one-ours"), Site(lab, "one-theirs")
    ours.enqueue(rows)
    theirs.enqueue(rows)
    enqueue = ours.command("enqueue", "--channel", "hook", "--to", "team", "--key", "disk-full:{}%n", "--subject",
                           "Disk full", "--body", "db1: 97 %")
    shell = ["sqlite3", "-batch", str(theirs.db), SHELL_INSERT]
    compare_one(lab, "alone", rounds, enqueue, shell)
    # A service has the database open most of the time: then nobody checkpoints and removes the log at the end.
    with contextlib.closing(ours.connect()) as first, contextlib.closing(theirs.connect()) as second:
        for connection in (first, second):
            connection.execute("SELECT count(*) FROM notification_lane").fetchall()
        compare_one(lab, "beside a service", rounds, enqueue, shell)


def compare_one(lab, how, rounds, enqueue, shell):
    def of_this_run(command):
        return [word.replace("disk-full:", f"disk-full:{how[0]}") for word in command]

    a, b = lab.processes(rounds, of_this_run(enqueue), of_this_run(shell), pause_us=1000)
    lab.keep("1", **{how: {"enqueue": a, "sqlite3": b}})
    ratio = median_ratio(a["us"], b["us"])
    lab.report("1", f"enqueue one message, {how}", f"{ratio:.2f} ×", "≤ 0.9 ×", ratio <= 0.9,
               f"{median(a['us']) / 1000:.1f} ms (p99 {percentile(a['us'], 99) / 1000:.1f}) against "
               f"{median(b['us']) / 1000:.1f} ms of the sqlite3 shell")
    if how == "alone":
        mib = a["rss_kb"] / 1024
        lab.report("1", "  its resident memory", f"{mib:.1f} MiB", "≤ 10 MiB", mib <= 10, "")


def stream(lab):
    """`enqueue --jsonl` against `.import` of the same rows as CSV, and the same lines again."""
    count, rounds = lab.scale(1_000_000, 100_000), 2
    directory = lab.directory("stream")
    lines, table = directory / "lines.jsonl", directory / "lines.csv"
    write_lines(lines, range(count), 700)
    write_csv(table, count)

    raw = {"ours": [], "theirs": [], "again": [], "rss_kb": []}
    for _ in range(rounds):
        site = Site(lab, "stream-ours")
        seconds, rss = lab.seconds(site.command("enqueue", "--jsonl", lines))
        raw["ours"].append(seconds)
        raw["theirs"].append(import_csv(lab, table))
        raw["again"].append(lab.seconds(site.command("enqueue", "--jsonl", lines))[0])
        raw["rss_kb"].append(rss)
        expect_rows(site, count)
    raw["rss_kb_of_a_tenth"] = memory_of_a_tenth(lab, lines, count)
    lab.keep("2", lines=count, **raw)

    ratio = median_ratio(raw["theirs"], raw["ours"])
    lab.report("2", f"enqueue --jsonl of {thousands(count)} lines", f"{ratio:.2f} ×", "≥ 1.2 ×", ratio >= 1.2,
               f"{thousands(count / median(raw['ours']))} rows/s against {thousands(count / median(raw['theirs']))} of "
               "sqlite3 .import")
    mib = max(raw["rss_kb"]) / 1024
    lab.report("2", "  its resident memory", f"{mib:.1f} MiB", "≤ 32 MiB", mib <= 32,
               f"{raw['rss_kb_of_a_tenth'] / 1024:.1f} MiB for a tenth of the lines")
    again = median_ratio(raw["again"], raw["ours"])
    lab.report("3", "the same lines again, all of them known", f"{again:.2f} ×", "≤ 0.7 ×", again <= 0.7,
               f"{median(raw['again']):.1f} s against {median(raw['ours']):.1f} s")


def write_csv(path, count):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for number in range(count):
            message = json.loads(line(number, 700))
            payload = json.dumps({"subject": message["subject"], "body": message["body"]}, separators=(",", ":"))
            writer.writerow([message["key"], message["channel"], message["kind"], message["to"], 5, "PENDING",
                             1_764_400_000_000, payload])


def import_csv(lab, table):
    directory = lab.directory("stream-theirs")
    database = directory / "plain.db"
    lab.run("sqlite3", "-batch", database, PLAIN_TABLE)
    return lab.seconds(["sqlite3", "-batch", str(database), "PRAGMA synchronous=FULL", f".import --csv {table} outbox"])[0]


def memory_of_a_tenth(lab, lines, count):
    site = Site(lab, "stream-ours")
    tenth = site.dir / "tenth.jsonl"
    with open(lines, encoding="utf-8") as whole, open(tenth, "w", encoding="utf-8") as part:
        part.writelines(next(whole) for _ in range(count // 10))
    return lab.seconds(site.command("enqueue", "--jsonl", tenth))[1]


def expect_rows(site, count):
    with site.connect() as connection:
        found = connection.execute("SELECT count(*) FROM notification_outbox").fetchone()[0]
    if found != count:
        raise Failure(f"{found} of {count} lines became rows")
