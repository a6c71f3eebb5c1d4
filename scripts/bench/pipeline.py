"""Targets 4, 5, 6, 12 and 13: what relay and work get done."""
import json
import signal
import time

from installation import Site
from lab import Failure, get_json, median, median_ratio, thousands, wait_until


def relay(lab):
    """`relay` against a bare loop that claims, inserts and marks in the same batches."""
    rows, rounds = lab.scale(100_000, 20_000), lab.scale(3, 2)
    raw = {"ours": [], "theirs": []}
    for _ in range(rounds):
        site = Site(lab, "relay-ours")
        site.enqueue(rows)
        raw["ours"].append(lab.seconds(site.command("relay"))[0])
        bare = lab.directory("relay-theirs") / "bare.db"
        raw["theirs"].append(lab.run_json(lab.program("bare_claim_loop"), "--db", bare, "--rows", rows)["seconds"])
        waiting = site.status()["queue"]["ready"]
        if waiting != rows:
            raise Failure(f"relay queued {waiting} of {rows} messages")
    lab.keep("4", rows=rows, **raw)
    ratio = median_ratio(raw["theirs"], raw["ours"])
    lab.report("4", f"relay of {thousands(rows)} messages", f"{ratio:.2f} ×", "≥ 0.6 ×", ratio >= 0.6,
               f"{thousands(rows / median(raw['ours']))} rows/s against {thousands(rows / median(raw['theirs']))} of the "
               "bare loop")


def work_without_latency(lab):
    """`work` to a vendor that answers at once, against curl and the same two writes a message without a queue."""
    messages, rounds = lab.scale(40_000, 8_000), lab.scale(3, 2)
    nginx, url = lab.nginx()
    raw = {"ours": [], "theirs": [], "curl": []}
    for _ in range(rounds):
        raw["ours"].append(drain(lab, url, messages, 64))
        bare = lab.directory("work-theirs") / "bare.db"
        raw["theirs"].append(lab.run_json(lab.program("bare_send_loop"), "--db", bare, "--url", url, "--messages", messages,
                                          "--concurrency", 64)["seconds"])
        raw["curl"].append(bare_curl(lab, url, messages, 64))
    lab.stop(nginx)
    lab.keep("5", messages=messages, **raw)
    ratio = median_ratio(raw["theirs"], raw["ours"])
    lab.report("5", "work, vendor answers at once, 64 in flight", f"{ratio:.2f} ×", "≥ 0.5 ×", ratio >= 0.5,
               f"{thousands(messages / median(raw['ours']))} sends/s against {thousands(messages / median(raw['theirs']))} "
               f"of curl + SQLite ({thousands(messages / median(raw['curl']))} of curl alone)")


def work_with_latency(lab):
    """`work` to a vendor that takes its time, against curl alone: what claims and results cost then."""
    vendor, url, _ = lab.vendor("--latency", "30ms±10ms")
    for in_flight, messages, wanted in ((64, lab.scale(12_000, 3_000), 0.95), (256, lab.scale(40_000, 10_000), 0.85)):
        raw = {"ours": [], "theirs": []}
        for _ in range(lab.scale(3, 1)):
            raw["ours"].append(drain(lab, url, messages, in_flight))
            raw["theirs"].append(bare_curl(lab, url, messages, in_flight))
        lab.keep("6", **{f"{in_flight} in flight": {"messages": messages, **raw}})
        ratio = median_ratio(raw["theirs"], raw["ours"])
        lab.report("6", f"work, vendor takes 30±10 ms, {in_flight} in flight", f"{ratio:.2f} ×", f"≥ {wanted} ×",
                   ratio >= wanted, f"{thousands(messages / median(raw['ours']))} sends/s against "
                                    f"{thousands(messages / median(raw['theirs']))} of curl alone")
    lab.stop(vendor)


def drain(lab, url, messages, in_flight):
    """Seconds that `work --drain` takes for so many messages."""
    site = Site(lab, "work-ours", url, in_flight)
    site.queue(messages)
    seconds, _ = lab.seconds(site.command("work", "--drain"))
    site.expect_sent(messages)
    return seconds


def bare_curl(lab, url, messages, in_flight):
    return lab.run_json(lab.program("bare_curl"), "--url", url, "--messages", messages, "--concurrency",
                        in_flight)["seconds"]


def mail(lab):
    """`work` over SMTP: connections are kept, and a server that takes its time with one mail does not hold up the others."""
    messages, connections, latency = lab.scale(6_000, 1_500), 16, 0.03
    raw = {"at once": [], "with latency": []}
    for name, options in (("at once", []), ("with latency", ["--latency", f"{latency * 1000:.0f}ms"])):
        vendor, url, log = lab.vendor("--protocol", "smtp", *options)
        for _ in range(lab.scale(3, 1)):
            site = Site(lab, "mail", url, connections, driver="smtp")
            site.queue(messages)
            raw[name].append(lab.seconds(site.command("work", "--drain"))[0])
            site.expect_sent(messages)
        lab.stop(vendor)
        if summary(lab, log)["duplicates"] > 0:
            raise Failure("a mail was sent twice")
    ideal = messages / connections * latency
    ratio = ideal / median(raw["with latency"])
    lab.keep("14", messages=messages, **raw)
    lab.report("14", f"mail, the server takes 30 ms, {connections} connections", f"{ratio:.2f} ×", "≥ 0.8 ×", ratio >= 0.8,
               f"{thousands(messages / median(raw['with latency']))} mails/s against {thousands(messages / ideal)} of "
               "nothing but waiting")
    lab.report("14", "  the server answers at once", f"{thousands(messages / median(raw['at once']))}/s", "", None,
               f"{connections} connections, each logged in to once")


def memory(lab):
    """The worker's resident memory must not grow with what it has sent."""
    few, many = 1_000, lab.scale(200_000, 20_000)
    nginx, url = lab.nginx()
    peaks = {}
    for messages in (few, many):
        site = Site(lab, "memory", url)
        site.queue(messages)
        peaks[messages] = lab.seconds(site.command("work", "--drain"))[1] / 1024
        site.expect_sent(messages)
    lab.stop(nginx)
    lab.keep("12", peak_mib=peaks)
    growth = peaks[many] / peaks[few]
    lab.report("12", f"memory of work: {thousands(many)} messages against {thousands(few)}", f"{growth:.2f} ×",
               "≤ 1.2 ×, 40 MiB", growth <= 1.2 and peaks[many] <= 40, f"{peaks[many]:.1f} against {peaks[few]:.1f} MiB")


def article(lab):
    """10,000 devices: 3 % of the answers are 503, 100 devices are gone, 100 always answer 503; the worker is killed."""
    devices, kill_at = lab.scale(10_000, 3_000), lab.scale(3_000, 1_000)
    vendor, url, log = lab.vendor("--latency", "30ms±10ms", "--rule", "to=device-*00 status=400",
                                  "--rule", "to=device-*50 status=503", "--fail", "0.03:503")
    site = Site(lab, "article", url, 64, 'not_sent = [503]\nretry = ["1s", "1s"]')
    site.queue(devices)
    stats = url.removesuffix("/hook") + "/__stub/stats"

    start = time.monotonic()
    worker = lab.start(*site.command("work"))
    wait_until(lambda: get_json(stats)["requests"] >= kill_at, f"{kill_at} requests")
    lab.stop(worker, signal.SIGKILL)
    lab.run(*site.command("work", "--drain"))
    seconds = time.monotonic() - start
    lab.stop(vendor)

    counts = summary(lab, log)
    status = site.status()
    inbox, parked = status["inbox"], status["parked"]["total"] - status["inbox"]["FAILED"]
    finished = inbox["SENT"] + inbox["FAILED"] + inbox["ERROR"] + parked
    lab.keep("13", seconds=seconds, vendor=counts, inbox=inbox, parked=parked)
    lab.report("13", f"{thousands(devices)} devices, worker killed at {thousands(kill_at)}", f"{seconds:.1f} s", "≤ 15 s",
               seconds <= 15, f"{inbox['SENT']} SENT, {inbox['FAILED']} FAILED, {inbox['ERROR']} ERROR, {parked} parked; "
                              "the article: about 160 s")
    twice = counts["taken_duplicates"]
    lab.report("13", "  sent twice", str(twice), "0", twice == 0, "the article: 4")
    if inbox["SENDING"] != 0 or finished < devices:
        raise Failure(f"{devices - finished} of {devices} messages are not finished")


def summary(lab, log):
    """What the vendor's log says; its exit code tells of duplicates, which is for the caller to judge."""
    return json.loads(lab.run(lab.stub, "--summary", "--ignore-refused", log, may_fail=True))
