"""One installation of notifyctl: a directory with a configuration and a database."""
import json
import sqlite3

from lab import Failure

CONFIG = """
database = "{dir}/notify.db"
environment = "production"

[work]
concurrency = {concurrency}

[channels.hook]
concurrency = {concurrency}
{driver}
{more}
"""

# Where `url` is a host and a port for SMTP, too.
DRIVERS = {
    "webhook": 'driver = "webhook"\nurl = "{url}"',
    "smtp": 'driver = "smtp"\nhost = "127.0.0.1"\nport = {port}\ntls = "none"\nhelo = "bench.example"\n'
            'from = "Bench <bench@example.com>"',
    "apns": 'driver = "apns"\nurl = "{url}"\nkey = {{ file = "{dir}/../apns.p8" }}\nkey_id = "ABC123DEFG"\n'
            'team_id = "DEF123GHIJ"\ntopic = "com.example.bench"',
}
RECIPIENTS = {"smtp": "device-{}@example.com", "apns": "{:064x}"}

TEXT = ("The grades of this term were locked today and can now be read on the portal. Questions about a single grade "
        "are answered by the department until the end of the month. Please bring your student card along. ")


def line(number, size, to="device-{}"):
    """A message of `size` bytes as one line of JSON, with its line end."""
    head = (f'{{"channel":"hook","to":"{to.format(number)}","key":"GRADE_LOCK_IN:2026-11:{number:09}",'
            f'"kind":"GRADE_LOCK_IN","subject":"Your grades are final","body":"')
    room = size - len(head) - 3
    return head + (TEXT * (room // len(TEXT) + 1))[:room] + '"}\n'


def write_lines(path, numbers, size=600, to="device-{}"):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line(n, size, to) for n in numbers)


class Site:
    def __init__(self, lab, name, url="http://127.0.0.1:9/hook", concurrency=64, more="", driver="webhook",
                 head=""):
        self.lab = lab
        self.dir = lab.directory(name)
        self.db = self.dir / "notify.db"
        self.config = self.dir / "config.toml"
        self.to = RECIPIENTS.get(driver, "device-{}")
        settings = DRIVERS[driver].format(url=url, port=url.split(":")[2].split("/")[0], dir=self.dir)
        self.config.write_text(head + CONFIG.format(dir=self.dir, driver=settings, concurrency=concurrency, more=more))
        self.config.chmod(0o600)
        self.run("init")

    def command(self, *args):
        return [self.lab.notifyctl, "--config", str(self.config), *map(str, args)]

    def run(self, *args):
        return self.lab.run(*self.command(*args))

    def connect(self, timeout=10.0):
        """A connection like another program's; autocommit."""
        connection = sqlite3.connect(self.db, timeout=timeout, isolation_level=None)
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    def enqueue(self, count, first=1, size=600):
        """`count` messages, PENDING; nothing of it is measured."""
        lines = self.dir / "lines.jsonl"
        write_lines(lines, range(first, first + count), size, self.to)
        self.run("enqueue", "--jsonl", lines)
        lines.unlink()

    def queue(self, count, first=1):
        """`count` messages, ready for the worker."""
        self.enqueue(count, first)
        self.run("relay")

    def status(self):
        return json.loads(self.run("status", "--json"))

    def sent(self):
        with self.connect() as connection:
            return connection.execute("SELECT count(*) FROM notification_inbox WHERE status = 'SENT'").fetchone()[0]

    def expect_sent(self, count):
        if self.sent() != count:
            raise Failure(f"{self.sent()} of {count} messages are SENT")
