"""Helm's install, upgrade and uninstall as a process of its own: Helm is Go, whose threads do not enter a test's network.

Standard input: {"verb", "kubeconfig", "namespace", "release", "chart"?, "values"?}. Standard output: the release as JSON.
"""

from __future__ import annotations

import json
import sys

import helm_python as helm


def main() -> None:
    asked = json.load(sys.stdin)
    with helm.Config(kubeconfig_path=asked["kubeconfig"], namespace=asked["namespace"]) as config:
        match asked["verb"]:
            case "install":
                told = config.install(
                    asked["chart"],
                    asked["release"],
                    asked.get("values"),
                    namespace=asked["namespace"],
                    create_namespace=True,
                    wait="hookOnly",
                )
            case "upgrade":
                told = config.upgrade(
                    asked["chart"], asked["release"], asked.get("values"), namespace=asked["namespace"], wait="hookOnly"
                )
            case "uninstall":
                told = config.uninstall(asked["release"], ignore_not_found=True)
            case _:
                raise SystemExit(f"{asked['verb']} is not known here")
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
