"""The Dockerfile, read: what is in the image, how it got there, and as whom it runs."""

from __future__ import annotations

import re
from importlib import metadata

from charts import build
from charts.image import instructions, stages

TEXT = (build.REPOSITORY / "Dockerfile").read_text("utf-8")
BUILD, LAST = stages(TEXT)


def _all(stage, name):
    return [rest for each, rest in stage if each == name]


def test_everything_that_is_installed_has_its_hash_checked_or_comes_from_here():
    installs = [
        part for step in _all(BUILD, "RUN") for part in step.split("&&") if re.search(r"\bpip\b.* install ", part)
    ]
    assert len(installs) == 3
    for each in installs:
        assert "--require-hashes" in each or ("--no-index" in each and "--no-deps" in each)


def test_the_wheel_is_built_by_locked_packages_alone():
    (wheel,) = [step for step in _all(BUILD, "RUN") if "pip wheel" in step]
    assert "--no-build-isolation" in wheel
    lock = (build.REPOSITORY / "requirements-dev.lock").read_text("utf-8")
    (wanted,) = re.findall(r"\^\(([a-z|-]+)\)==", TEXT)
    assert all(re.search(rf"^{name}==", lock, re.MULTILINE) for name in wanted.split("|"))
    needed = {re.match(r"[a-z0-9-]+", each)[0] for each in metadata.requires("hatchling") or [] if ";" not in each}
    assert {"hatchling", *needed} == set(wanted.split("|"))


def test_the_image_holds_the_result_and_not_the_tools():
    assert _all(LAST, "COPY") == ["--from=build /opt/engine /opt/engine"]
    assert _all(LAST, "RUN") == []
    assert "--without-pip" in TEXT


def test_bytecode_is_compiled_in_the_image_and_never_written_later():
    assert any("compileall" in step and "unchecked-hash" in step for step in _all(BUILD, "RUN"))
    assert any("PYTHONDONTWRITEBYTECODE=1" in each for each in _all(LAST, "ENV"))


def test_it_runs_as_the_user_of_the_pod(default):
    context = default.pod["securityContext"]
    assert _all(LAST, "USER") == [f"{context['runAsUser']}:{context['runAsGroup']}"]
    assert _all(LAST, "ENTRYPOINT") == ['["engine"]']
    assert default.container["args"][0] == "worker"


def test_what_is_copied_is_there_and_the_context_holds_it():
    ignored = (build.REPOSITORY / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in ignored
    for rest in _all(BUILD, "COPY"):
        for each in rest.split()[:-1]:
            assert (build.REPOSITORY / each).exists()
            assert f"!{each}" in ignored


def test_what_the_wheel_takes_in_is_copied():
    import tomllib

    wheel = tomllib.loads((build.REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    copied = {each for rest in _all(BUILD, "COPY") for each in rest.split()[:-1]}
    assert {*wheel["wheel"]["packages"], *wheel["wheel"]["force-include"]} <= copied


def test_a_continued_line_is_one_instruction_and_a_comment_is_none():
    assert list(instructions("# a\nRUN x \\\n && y\n\nUSER 1\n")) == [("RUN", "x   && y"), ("USER", "1")]
