"""Targets 8, 9 and 11: the services as others on the machine feel them."""
import contextlib
import json
import pathlib
import subprocess
import time

from installation import Site
from lab import Failure, median, percentile


@contextlib.contextmanager
def services(lab, site):
    """`relay --watch` and `work`, running and at rest."""
    running = [lab.start(*site.command("relay", "--watch")), lab.start(*site.command("work"))]
    time.sleep(1)
    try:
        yield running
        for process in running:
            if process.poll() is not None:
                raise Failure(f"a service ended by itself with exit code {process.returncode}")
    finally:
        for process in running:
            lab.stop(process)


def latency(lab):
    """From the commit of one message to its first byte at the vendor."""
    samples, gap_ms = lab.scale(500, 100), 30
    directory = lab.directory("latency-probe")
    site = Site(lab, "latency")
    with open(directory / "stderr", "w+", encoding="utf-8") as errors:
        probe = lab.start(lab.program("latency_probe"), "--db", site.db, "--samples", samples, "--gap-ms", gap_ms,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        port = probe.stdout.readline().strip()
        site.config.write_text(site.config.read_text().replace("127.0.0.1:9/", f"127.0.0.1:{port}/"))
        with services(lab, site):
            output, _ = probe.communicate("go\n", timeout=120)
        lab.stop(probe)
        errors.seek(0)
        if probe.returncode != 0:
            raise Failure(errors.read())
    us = json.loads(output)["us"]
    lab.keep("8", us=us)
    p50, p99 = median(us) / 1000, percentile(us, 99) / 1000
    lab.report("8", "commit of a message → vendor's first byte, p50", f"{p50:.1f} ms", "≤ 5 ms", p50 <= 5, "")
    lab.report("8", "  p99", f"{p99:.1f} ms", "≤ 25 ms", p99 <= 25, f"of {samples}, worst {max(us) / 1000:.1f} ms")


def idle(lab):
    """What services that have nothing to do cost."""
    seconds = lab.scale(60, 10)
    site = Site(lab, "idle")
    with services(lab, site) as running:
        time.sleep(1)
        before = [activity(process.pid) for process in running]
        time.sleep(seconds)
        after = [activity(process.pid) for process in running]
    wakeups = [(b[0] - a[0]) / seconds for a, b in zip(before, after)]
    percent = [(b[1] - a[1]) / seconds / 1e9 * 100 for a, b in zip(before, after)]
    lab.keep("9", seconds=seconds, names=["relay", "work"], wakeups_a_second=wakeups, cpu_percent=percent)
    how = f"relay {wakeups[0]:.1f}, work {wakeups[1]:.1f}"
    lab.report("9", f"wake-ups a second of both services, idle {seconds} s", f"{sum(wakeups):.1f}", "≤ 10",
               sum(wakeups) <= 10, how)
    lab.report("9", "  processor", f"{sum(percent):.3f} %", "≤ 0.1 %", sum(percent) <= 0.1, "of one core")


def activity(pid):
    """(how often its threads went to sleep, nanoseconds on a processor) so far."""
    sleeps = nanoseconds = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        sleeps += int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])
        nanoseconds += int((task / "schedstat").read_text().split()[0])
    return sleeps, nanoseconds


def enqueue_under_load(lab):
    """A script's `enqueue` while relay and work have as much to do as they can."""
    rounds, backlog = lab.scale(400, 80), lab.scale(150_000, 30_000)
    nginx, url = lab.nginx()
    site = Site(lab, "load", url)
    command = site.command("enqueue", "--channel", "hook", "--to", "team", "--key", "WHEN:%n", "--body", "db1: 97 %")
    (alone,) = lab.processes(rounds, [word.replace("WHEN", "alone") for word in command], pause_us=10_000)
    site.enqueue(backlog)
    with services(lab, site):
        (loaded,) = lab.processes(rounds, [word.replace("WHEN", "loaded") for word in command], pause_us=10_000,
                                  may_fail=True)
        left = site.status()["inbox"]["SENT"]
    lab.stop(nginx)
    lab.keep("11", alone=alone, loaded=loaded, sent_at_end=left, backlog=backlog)
    if left >= backlog:
        raise Failure("relay and work were done before the measurement was: the backlog is too small")
    p99 = percentile(loaded["us"], 99) / 1000
    refused = rounds - loaded["exits"].get("0", 0)
    lab.report("11", "enqueue while relay and work run at full speed, p99", f"{p99:.1f} ms", "≤ 25 ms", p99 <= 25,
               f"p50 {median(loaded['us']) / 1000:.1f} ms; alone p50 {median(alone['us']) / 1000:.1f}, "
               f"p99 {percentile(alone['us'], 99) / 1000:.1f} ms")
    lab.report("11", "  of them refused as busy", str(refused), "0", refused == 0, f"of {rounds}")
