"""Run pip-audit, as the arguments say, and tell what it found.

The exit code is 1 for known faults, and 2 for packages that were not looked up. By itself pip-audit passes over a
package that its service does not answer for, and ends as if that were well.
"""

import json
import subprocess
import sys


def told(content: str) -> tuple[int, list[str]]:
    """Return the exit code and the lines to print."""
    try:
        packages = json.loads(content)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 2, ["pip-audit gave no answer: its service was not reached, so that nothing is known"]
    faults = [
        f"{package['name']} {package['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'none'}"
        for package in packages
        for fault in package.get("vulns", ())
    ]
    unknown = [package["name"] for package in packages if "vulns" not in package]
    if len(unknown) == len(packages):
        return 2, [
            f"none of {len(packages)} packages was looked up: the service was not reached, so that nothing is known"
        ]
    lines = [*faults, f"{len(packages) - len(unknown)} packages looked up, {len(faults)} known faults"]
    if unknown:
        lines.append(f"not looked up: {', '.join(unknown)}")
    return (1 if faults else 2 if unknown else 0), lines


if __name__ == "__main__":
    ended = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=False)
    code, lines = told(ended.stdout)
    print(*lines, *([] if ended.stdout else ended.stderr.splitlines()[-1:]), sep="\n")
    sys.exit(code)
