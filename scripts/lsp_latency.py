#!/usr/bin/env python3
"""Measures how long the language server takes from a change to its diagnostics.

    scripts/lsp_latency.py target/release/agon FILE [CHANGES [PAUSE]]

Opens FILE with `agon lsp --no-play`, types a comment into it letter by letter, and prints the
times from sending a change to receiving the diagnostics of that version. With a PAUSE in seconds
between the changes the slow path is on: a pause of more than 0.4 lets it start, so that every
change has to interrupt it.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time


def send(server, message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()


def receive(server):
    length = 0
    while line := server.stdout.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(server.stdout.read(length))


def diagnostics(server, version):
    while True:
        message = receive(server)
        is_wanted = message.get("method") == "textDocument/publishDiagnostics"
        if is_wanted and message["params"].get("version") == version:
            return message["params"]["diagnostics"]


def main():
    program, path = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    n_changes = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    pause = float(sys.argv[4]) if len(sys.argv) > 4 else 0
    text = path.read_text()
    command = [program, "lsp"] if pause else [program, "lsp", "--no-play"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    send(server, {"id": 1, "method": "initialize", "params": {"capabilities": {}}})
    while receive(server).get("id") != 1:
        pass
    send(server, {"method": "initialized", "params": {}})
    document = {"uri": path.as_uri(), "languageId": "gdl", "version": 0, "text": text}
    send(server, {"method": "textDocument/didOpen", "params": {"textDocument": document}})
    diagnostics(server, 0)
    times = []
    end = {"line": text.count("\n") + 1, "character": 0}
    for version in range(1, n_changes + 1):
        letter = "\n;" if version == 1 else "x"
        place = end if version == 1 else {"line": end["line"] + 5, "character": 10_000}
        change = {"range": {"start": place, "end": place}, "text": letter}
        params = {
            "textDocument": {"uri": path.as_uri(), "version": version},
            "contentChanges": [change],
        }
        time.sleep(pause)
        start = time.perf_counter()
        send(server, {"method": "textDocument/didChange", "params": params})
        diagnostics(server, version)
        times.append(1000 * (time.perf_counter() - start))
    send(server, {"id": 2, "method": "shutdown", "params": None})
    send(server, {"method": "exit", "params": None})
    server.wait(timeout=10)
    times.sort()
    print(
        f"{path.name}: {len(text)} bytes, {n_changes} changes, median "
        f"{statistics.median(times):.1f} ms, slowest {times[-1]:.1f} ms"
    )


main()
