"""Targets 15 and 16: what a vendor's protocol and its limits make of work."""
import time

from installation import Site
from lab import Failure, median, thousands, wait_until
from pipeline import bare_curl, summary

LATENCY = 0.03


def push(lab):
    """`work` to APNs: one HTTP/2 connection or a few carry everything that is in flight."""
    messages, in_flight = lab.scale(20_000, 4_000), 256
    key = lab.tmp / "apns.p8"
    lab.run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
    seconds, counts = [], {}
    for _ in range(lab.scale(3, 1)):
        # A vendor for each run: one that sees two provider tokens within minutes refuses the second.
        ca = lab.directory("ca")
        vendor, url, log = lab.vendor("--tls", "--self-signed", ca, "--latency", f"{LATENCY * 1000:.0f}ms", "--vendor",
                                      f"apns key={key} key-id=ABC123DEFG team=DEF123GHIJ topic=com.example.bench",
                                      scheme="https")
        site = Site(lab, "push", url.removesuffix("/hook"), in_flight, driver="apns",
                    head=f'ca_bundle = "{ca}/ca.pem"\n')
        site.queue(messages)
        seconds.append(lab.seconds(site.command("work", "--drain"))[0])
        site.expect_sent(messages)
        lab.stop(vendor)
        counts = summary(lab, log)
        if counts["duplicates"] > 0:
            raise Failure("a push was sent twice")
    ideal = messages / in_flight * LATENCY
    ratio = ideal / median(seconds)
    lab.keep("15", messages=messages, seconds=seconds, vendor=counts)
    lab.report("15", f"push, the vendor takes 30 ms, {in_flight} in flight", f"{ratio:.2f} ×", "", None,
               f"{thousands(messages / median(seconds))} pushes/s over TLS and HTTP/2 against {thousands(messages / ideal)} "
               "of nothing but waiting")


def room_for_eight(lab):
    """A vendor that answers 429 to what is more than eight at a time; `concurrency` says 64."""
    messages, room = lab.scale(4_000, 1_500), 8
    behind, url, _ = lab.vendor("--latency", f"{LATENCY * 1000:.0f}ms")
    nginx, url = lab.nginx(location=f"limit_conn all {room}; limit_conn_status 429; proxy_pass {url};",
                           http="limit_conn_zone $server_addr zone=all:1m;")
    raw = {"finds out": serve(lab, url, messages, 64), "knows": serve(lab, url, messages, room),
           "curl": bare_curl(lab, url, messages, room)}
    for process in (nginx, behind):
        lab.stop(process)
    lab.keep("16", messages=messages, **raw)
    lab.report("16", f"a vendor with room for {room}, 64 allowed", f"{raw['knows'] / raw['finds out']:.2f} ×", "", None,
               f"{thousands(messages / raw['finds out'])} sends/s against {thousands(messages / raw['knows'])} when "
               f"`concurrency` says {room} ({thousands(messages / raw['curl'])} of curl alone)")


def serve(lab, url, messages, in_flight):
    """Seconds that a `work` which goes on after a pause of the lane takes for so many messages."""
    site = Site(lab, "room", url, in_flight)
    site.queue(messages)
    start = time.monotonic()
    worker = lab.start(*site.command("work"))
    wait_until(lambda: site.sent() == messages, f"{messages} messages to be sent", 240)
    seconds = time.monotonic() - start
    lab.stop(worker)
    return seconds
