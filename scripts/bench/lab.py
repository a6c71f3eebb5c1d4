"""The place where measuring happens: a temporary directory, programs that run in it, and what came out."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

NGINX = """
daemon off;
master_process off;
pid {dir}/pid;
error_log {dir}/error.log;
events {{ worker_connections 2048; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {dir}/a; proxy_temp_path {dir}/b; fastcgi_temp_path {dir}/c;
  uwsgi_temp_path {dir}/d; scgi_temp_path {dir}/e;
  {http}
  server {{ listen 127.0.0.1:{port} backlog=1024; location / {{ {location} }} }}
}}
"""


class Failure(Exception):
    """Something that must work did not: there is nothing to measure."""


class Lab:
    def __init__(self, programs, notifyctl, stub, quick, results):
        self.quick = quick
        self.programs = pathlib.Path(programs).resolve()
        self.stub = str(pathlib.Path(stub).resolve())
        self.notifyctl = str(pathlib.Path(notifyctl).resolve())
        self.rows = []  # what the table shows
        self.raw = {}   # what it was made of, by target
        self._running = []
        results.mkdir(parents=True, exist_ok=True)
        # Beside the results and not in /tmp, which is memory on many machines: a commit must reach a disk.
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="tmp.", dir=results)).resolve()
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.tmp), "LC_ALL": "C", "TZ": "UTC"}

    def close(self):
        for process in list(self._running):
            self.stop(process, signal.SIGKILL)
        shutil.rmtree(self.tmp, ignore_errors=True)

    def scale(self, full, quick):
        return quick if self.quick else full

    def directory(self, name):
        """An empty directory; what an earlier measurement left under this name is gone."""
        path = self.tmp / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o755)
        return path

    def program(self, name):
        return str(self.programs / name)

    # --- programs

    def run(self, *argv, may_fail=False):
        """Runs to the end; returns what it wrote to stdout."""
        done = subprocess.run([str(a) for a in argv], env=self.env, cwd=self.tmp, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0 and not may_fail:
            raise Failure(f"{' '.join(map(str, argv))}: exit {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def run_json(self, *argv):
        return json.loads(self.run(*argv))

    def start(self, *argv, **popen):
        """Runs beside us; ends with us, whatever happens to us."""
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *map(str, argv)], env=self.env, cwd=self.tmp,
                                   text=True, **({"stdin": subprocess.DEVNULL} | popen))
        self._running.append(process)
        return process

    def stop(self, process, by=signal.SIGTERM):
        if process.poll() is None:
            process.send_signal(by)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process in self._running:
            self._running.remove(process)
        return process.returncode

    def processes(self, rounds, *commands, pause_us=0, may_fail=False):
        """Whole processes in turn, `rounds` times each: [{us: […], exits, rss_kb, cpu_us}], one a command."""
        argv = [self.program("time_processes"), rounds, pause_us]
        for command in commands:
            argv += ["--", *command]
        results = json.loads(self.run(*argv))
        for command, result in zip(commands, results):
            if not may_fail and set(result["exits"]) != {"0"}:
                raise Failure(f"{' '.join(map(str, command))}: exits {result['exits']}")
        return results

    def seconds(self, command):
        """How long one process takes, and its resident memory in KiB."""
        (result,) = self.processes(1, command)
        return result["us"][0] / 1e6, result["rss_kb"]

    # --- vendors

    def nginx(self, location="return 200;", http=""):
        """A server that answers 200 at once, or as `location` says; returns (process, URL)."""
        directory = self.directory("nginx")
        port = free_port()
        (directory / "nginx.conf").write_text(NGINX.format(dir=directory, port=port, location=location, http=http))
        process = self.start("nginx", "-p", directory, "-c", directory / "nginx.conf", stderr=subprocess.DEVNULL)
        wait_until(lambda: answers(port), "nginx to answer")
        return process, f"http://127.0.0.1:{port}/hook"

    def vendor(self, *options, scheme="http"):
        """The stub that keeps a log; returns (process, URL, log file)."""
        directory = self.directory("vendor")
        port_file = directory / "port"
        process = self.start(self.stub, "--port-file", port_file, "--log", directory / "log", "--no-body", *options,
                             stdout=subprocess.DEVNULL)
        wait_until(port_file.exists, "the vendor stub to listen")
        return process, f"{scheme}://127.0.0.1:{port_file.read_text().strip()}/hook", directory / "log"

    # --- results

    def report(self, target, what, measured, wanted, met, how):
        """One line of the table. met: True, False, or None where there is only a number to show."""
        verdict = {True: "met", False: "MISSED", None: ""}[met]
        self.rows.append({"target": target, "what": what, "measured": measured, "wanted": wanted, "verdict": verdict,
                          "how": how})
        print(f"{target:>4}  {what:<52} {measured:>12}  {wanted:<18} {verdict:<7} {how}", flush=True)

    def keep(self, target, **raw):
        self.raw.setdefault(target, {}).update(raw)


# --- small things -----------------------------------------------------------------------------------------------------

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def get_json(url):
    host, path = url.removeprefix("http://").split("/", 1)
    connection = http.client.HTTPConnection(host, timeout=5)
    try:
        connection.request("GET", "/" + path)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def wait_until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"waited {seconds} s for {what}")
        time.sleep(0.01)


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def median_ratio(ours, theirs):
    """Of pairs that were measured one after the other, so that what slows the machine down slows both."""
    return statistics.median(a / b for a, b in zip(ours, theirs))


def median(values):
    return statistics.median(values)


def thousands(number):
    return f"{number:,.0f}"


def processor():
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return f"{os.cpu_count()} × {names[0] if names else 'unknown'}"
