"""A real Slurm of two nodes on this machine, started and stopped here: the array job that `plan --emit slurm` writes
ends in the tables of a single process, whatever happens to workers, jobs and the controller on the way.

Needs Debian's slurmctld, slurmd, slurm-client and munge. Daemons run as the user of the test, in a folder of the test,
on free ports of the loopback, and die with it.

Usage: test_slurm.py QFS_BENCH
"""

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_shards  # noqa: E402

os.environ["PATH"] += ":/usr/sbin"
PACKAGES = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}
MISSING = [package for program, package in PACKAGES.items() if shutil.which(program) is None]

CONFIGURATION = """ClusterName=qfs
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldPort={controller}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=1
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def die_with_the_test():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for own in sockets:
            own.bind(("127.0.0.1", 0))
        return [own.getsockname()[1] for own in sockets]


class Cluster:
    """munged, slurmctld and two slurmd in a folder; `environment` is what its clients need."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(os.path.join(folder, "state"))
        for node in ("n1", "n2"):
            os.makedirs(os.path.join(folder, "spool." + node))
        controller, first, second = free_ports(3)
        self.write("slurm.conf", CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], user=pwd.getpwuid(os.getuid()).pw_name, folder=folder,
            controller=controller, first=first, second=second))
        self.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")
        self.write("munge.key", os.urandom(1024))
        self.environment = {**os.environ, "SLURM_CONF": os.path.join(folder, "slurm.conf")}
        self.daemons = {}
        self.start("munged", "--foreground", "--force", *(f"--{what}={folder}/munge.{end}" for what, end in (
            ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))))
        self.wait(lambda: os.path.exists(os.path.join(folder, "munge.socket")), "munged")
        self.start_controller()
        for node in ("n1", "n2"):
            self.start("slurmd", "-D", "-N", node, name=node)
        self.wait(lambda: (self.ask("sinfo", "-h", "-o", "%t") or "").split() == ["idle"], "two idle nodes")

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, 0o600)

    def start(self, program, *arguments, name=None):
        with open(os.path.join(self.folder, (name or program) + ".log"), "ab") as log:
            self.daemons[name or program] = subprocess.Popen(
                [shutil.which(program), *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, preexec_fn=die_with_the_test, cwd=self.folder)

    def wait_until_saved(self):
        """The controller writes its jobs down now and then."""
        now = time.time()
        state = os.path.join(self.folder, "state", "job_state")
        self.wait(lambda: os.path.exists(state) and os.path.getmtime(state) > now, "the controller's state")

    def start_controller(self):
        self.start("slurmctld", "-D")

    def kill_controller(self):
        daemon = self.daemons.pop("slurmctld")
        daemon.kill()
        daemon.wait()

    def ask(self, *command):
        """What a client prints; None while the controller is away."""
        try:
            run = subprocess.run(command, env=self.environment, text=True, capture_output=True, timeout=20)
        except subprocess.TimeoutExpired:
            return None
        return run.stdout if run.returncode == 0 else None

    def wait(self, condition, what, seconds=90):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {seconds} s\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".log"):
                with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as log:
                    text += f"== {name}\n" + "".join(log.readlines()[-15:])
        return text

    def jobs(self):
        """Of the queue, by state; None while the controller is away."""
        listed = self.ask("squeue", "-h", "-r", "-o", "%T %i")
        if listed is None:
            return None
        states = {}
        for line in listed.splitlines():
            state, job = line.split()
            states.setdefault(state, []).append(job)
        return states

    def wait_until_done(self):
        self.wait(lambda: self.jobs() == {}, "the end of all jobs", 180)

    def stop(self):
        if "slurmctld" in self.daemons:
            self.ask("scancel", "--user", str(os.getuid()))
            with contextlib.suppress(AssertionError):
                self.wait(lambda: self.jobs() == {}, "no jobs", 20)
        for name in ("n1", "n2", "slurmctld", "munged"):
            daemon = self.daemons.pop(name, None)
            if daemon is None:
                continue
            daemon.terminate()
            try:
                daemon.wait(timeout=15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


class Slurm(test_shards.ShardsTest):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster(self.path("slurm"))
        self.addCleanup(self.cluster.stop)
        self.environment["SLURM_CONF"] = self.cluster.environment["SLURM_CONF"]

    def submit(self):
        """Emits for what is missing and submits it; the id of the array job."""
        self.emit(2, "slurm")
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"^array job \d+, merged by job \d+; then: ")
        return run.stdout.split()[2].rstrip(",")

    def test_an_array_job_ends_in_the_tables_of_one_process(self):
        self.submit()
        self.cluster.wait_until_done()
        self.assert_as_one_after_the_sweep()

    def test_killed_workers_requeued_jobs_a_killed_controller_and_a_duplicate_shard(self):
        self.write("slow", "")
        job = self.submit()
        for number in (1, 2):
            self.wait_for_outputs(f"small.shards/{number}-of-2.sqlite")
        os.kill(self.worker_pid("small.shards/1-of-2.sqlite"), signal.SIGKILL)
        self.cluster.ask("scontrol", "requeue", job + "_2")
        self.cluster.wait(lambda: job + "_2" in (self.cluster.jobs() or {}).get("PENDING", []), "the requeued job in the queue")
        self.cluster.wait_until_saved()
        self.cluster.kill_controller()
        self.cluster.start_controller()
        # The other array's shard is run a second time beside it, as an operator's mistake would.
        duplicate = self.shard_of(2, "again.sqlite", "--manifest", "run.sh.json")
        self.assertEqual(duplicate.returncode, 0, duplicate.stderr)
        self.cluster.wait_until_done()
        log = self.read("small.shards/slurm-2.log")
        self.assertIn("stopped by SIGTERM", log)  # by the requeue
        self.assertIn("lead: in the store", log)  # when it ran again
        missing = self.outputs_of("one/small.sqlite") - self.outputs_of("small.sqlite")
        self.assertGreater(missing, 0)  # those of the killed worker
        merged = self.assert_succeeds(self.run_bench("merge", "small.sqlite", "again.sqlite"))
        self.assertNotIn("output", merged)  # the requeued job has made them all

        os.remove(self.path("slow"))
        self.submit()
        self.cluster.wait_until_done()
        self.assert_as_one_after_the_sweep()

    def assert_as_one_after_the_sweep(self):
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--allow-external", "--store", "small.sqlite"))
        self.assert_as_one()


if __name__ == "__main__":
    if MISSING:
        print("skipped: Slurm is not installed here: apt-get install " + " ".join(MISSING))
        sys.exit(77)
    unittest.main()
