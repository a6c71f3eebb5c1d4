"""Runs the measurements of docs/performance.md; see scripts/bench.sh."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import signal
import sys
import time
import traceback

import enqueueing
import pipeline
import services
import size
import vendors
from lab import Failure, Lab, processor

# In the order in which they are run: what needs a quiet machine first.
TARGETS = [
    ("8", services.latency),
    ("9", services.idle),
    ("1", enqueueing.one),
    ("2 3", enqueueing.stream),
    ("4", pipeline.relay),
    ("5", pipeline.work_without_latency),
    ("6", pipeline.work_with_latency),
    ("11", services.enqueue_under_load),
    ("12", pipeline.memory),
    ("13", pipeline.article),
    ("14", pipeline.mail),
    ("15", vendors.push),
    ("16", vendors.room_for_eight),
    ("7 10", size.many_finished_rows),
]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--notifyctl", required=True)
    parser.add_argument("--stub", required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def write_results(lab, directory, started):
    results = {
        "started": started.isoformat(timespec="seconds"),
        "seconds": round((datetime.datetime.now(datetime.timezone.utc) - started).total_seconds()),
        "quick": lab.quick,
        "machine": {"processor": processor(), "kernel": platform.release(), "load_at_end": os.getloadavg()},
        "version": lab.run(lab.notifyctl, "--version").splitlines(),
        "targets": sorted(lab.rows, key=lambda row: int("".join(filter(str.isdigit, row["target"])))),
        "raw": lab.raw,
    }
    file = directory / f"{started:%Y%m%dT%H%M%S}.json"
    file.write_text(json.dumps(results, indent=1) + "\n")
    return file


def main():
    options = arguments()
    started = datetime.datetime.now(datetime.timezone.utc)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    wanted = set(options.only.replace(",", " ").split())
    lab = Lab(options.programs, options.notifyctl, options.stub, options.quick, options.results)
    failed = []
    print(f"{processor()}, load {os.getloadavg()[0]:.1f}{', QUICK: small numbers' if lab.quick else ''}", flush=True)
    try:
        for numbers, measure in TARGETS:
            if wanted and not wanted & set(numbers.split()):
                continue
            begun = time.monotonic()
            try:
                measure(lab)
            except Failure as failure:
                failed.append(numbers)
                print(f"{numbers:>4}  could not be measured: {failure}", flush=True)
            except Exception:  # the others are still worth having
                failed.append(numbers)
                traceback.print_exc()
            lab.keep(numbers, seconds=round(time.monotonic() - begun, 1))
        file = write_results(lab, options.results, started)
    finally:
        lab.close()
    count = {verdict: sum(row["verdict"] == verdict for row in lab.rows) for verdict in ("met", "MISSED")}
    print(f"\n{count['met']} met, {count['MISSED']} missed, {len(failed)} not measured; raw numbers: {file}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
