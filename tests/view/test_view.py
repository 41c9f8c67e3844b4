"""facet view without a browser: what goes into the page, what is refused, and how the server behaves. The page is a small one with
the mark, so that neither node nor `make web` is needed; the real one is tested in tests/web."""
import base64
import gzip
import json
import os
import re
import signal
import socket
import stat
import subprocess
import tempfile
import time

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
PAGE = os.path.join(SOURCE, "tests/view/page.html")
BLOCK = re.compile(rb'<script type="application/json" id="facet-input">(.*?)</script>', re.S)


def environment(**others):
    return dict(os.environ, FACET_PAGE=PAGE, **others)


def facet(*words, folder=SOURCE, **others):
    return subprocess.run([FACET, *words], cwd=folder, env=environment(**others), capture_output=True, timeout=120, check=False)


def filled(path, *options, folder=SOURCE):
    """The object in the page that is written for a file, its bytes, and the whole page."""
    with tempfile.TemporaryDirectory() as out:
        name = os.path.join(out, "page.html")
        result = facet("view", "-q", path, "-o", name, *options, folder=folder)
        check_eq((result.returncode, result.stdout), (0, b""), result.stderr)
        with open(name, "rb") as file:
            page = file.read()
    found = BLOCK.findall(page)
    check_eq(len(found), 1, "blocks in the page")
    made = json.loads(found[0])
    return made, gzip.decompress(base64.b64decode(made.pop("data"), validate=True)), page


def image_of(folder, *options):
    path = os.path.join(folder, "cube.gfx12")
    check_eq(facet("bvh", "build", "-q", "examples/gfx12/cube.obj", "-o", path, *options).returncode, 0)
    with open(path, "rb") as file:
        return path, file.read()


@case()
def an_image_goes_in_as_it_is():
    with tempfile.TemporaryDirectory() as folder:
        path, content = image_of(folder)
        made, data, page = filled(path)
        check_eq(made, {"name": "cube.gfx12", "kind": "bvh", "base": "0x0", "root": 5})
        check(data == content, "the bytes differ")
        with open(PAGE, "rb") as file:
            check(BLOCK.sub(b"<!--facet-input-->", page) == file.read(), "the rest of the page differs")
        check(page == filled(path)[2], "the same file gives other bytes")


def content_of(path):
    with open(os.path.join(SOURCE, path), "rb") as file:
        return file.read()


@case()
def files_that_a_list_names_go_with_it():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "k"))
        contents = {"k/shade.s": b'.include "more.s"\nEXIT\n', "more.s": b"  .include \"k/shade.s\"\n", "odd <script>.bin": bytes(range(256)),
                    "kernel.inc": b"NOP\n"}
        for name, content in contents.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        os.symlink("more.s", os.path.join(folder, "link.s"))
        path = os.path.join(folder, "list.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"buffers": {"a": {"assembly": "k/shade.s"}, "b": {"file": "odd <script>.bin"}, "c": {"image": "missing.png"},
                                   "d": {"file": "../out.bin"}, "e": {"file": "link.s"}, "f": {"code": [".include \"kernel.inc\"", "EXIT"]}}}, file)
        made, _, _ = filled(path)
        beside = {one["name"]: gzip.decompress(base64.b64decode(one["data"], validate=True)) for one in made["beside"]}
        check_eq(beside, contents)
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"buffers": [')
        made, data, _ = filled(path)
        check_eq((data, "beside" in made), (b'{"buffers": [', False))


@case()
def a_scene_goes_in_with_the_files_that_it_names():
    made, data, _ = filled("assets/room.glb")
    check_eq(made, {"name": "room.glb", "kind": "scene"})
    check(data == content_of("assets/room.glb"), "the scene differs")
    made, data, page = filled("assets/crate.obj")
    check_eq((made["name"], made["kind"]), ("crate.obj", "scene"))
    check(data == content_of("assets/crate.obj"), "the scene differs")
    check_eq([one["name"] for one in made["beside"]], ["crate.mtl", "crate.png"])
    for one in made["beside"]:
        check(gzip.decompress(base64.b64decode(one["data"], validate=True)) == content_of("assets/" + one["name"]), one["name"])
    check(page == filled("assets/crate.obj")[2], "the same file gives other bytes")


@case()
def what_a_scene_lacks_is_said_and_a_broken_one_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "page.html")
        with open(os.path.join(folder, "bare.obj"), "wb") as file:
            file.write(content_of("assets/crate.obj"))
        result = facet("view", "bare.obj", "-o", out, folder=folder)
        check_eq(result.returncode, 0, result.stderr)
        check(b"left out: material library crate.mtl" in result.stderr, result.stderr)
        check(b"bare.obj is a scene; the page makes the image of facet bvh build" in result.stderr, result.stderr)
        with open(os.path.join(folder, "cut.glb"), "wb") as file:
            file.write(content_of("assets/room.glb")[:5000])
        os.remove(out)
        result = facet("view", "cut.glb", "-o", out, folder=folder)
        check_eq(result.returncode, 2)
        check(b"cut.glb" in result.stderr and not os.path.exists(out), result.stderr)


@case()
def places_of_an_image_are_told():
    with tempfile.TemporaryDirectory() as folder:
        path, content = image_of(folder, "--base", "0x4000")
        made, data, _ = filled(path, "--base", "0x4000", "--root", "0x5")
        check_eq((made["base"], made["root"]), ("0x4000", 5))
        check(data == content, "the bytes differ")
    made, data, _ = filled("examples/gfx12/two.rra")
    with open(os.path.join(SOURCE, "examples/gfx12/two.rra"), "rb") as file:
        check_eq((made, data), ({"name": "two.rra", "kind": "bvh", "structure": 0}, file.read()), "a capture goes as it is")
    pieces = [("radv-tlas.bin", "0x7f1200000000"), ("radv-blas.bin", "0x7f1200100000")]
    words = [word for name, at in pieces for word in ("--segment", f"examples/gfx12/{name}@{at}")]
    made, data, _ = filled("--driver=auto", *words)
    check_eq((made["driver"], made["structure"], made["base"]), ("radv", 0, "0x7f12000000c0"))
    check_eq([(one["name"], one["address"]) for one in made["segments"]], pieces)
    for one in made["segments"]:
        with open(os.path.join(SOURCE, "examples/gfx12", one["name"]), "rb") as file:
            check_eq(data[one["offset"]:one["offset"] + one["size"]], file.read(), one["name"])


@case()
def images_of_the_other_format_are_told_apart():
    with tempfile.TemporaryDirectory() as folder:
        path, content = image_of(folder, "--format", "xphmg8")
        made, data, _ = filled(path)
        check_eq(made, {"name": "cube.gfx12", "kind": "tiles"})
        check(data == content, "the bytes differ")


@case()
def programs_and_lists_go_in_as_they_are():
    for path in ("examples/tile/fill.s", "examples/tile/triangle.json"):
        made, data, _ = filled(path)
        check_eq(made, {"name": os.path.basename(path), "kind": "file"})
        with open(os.path.join(SOURCE, path), "rb") as file:
            check(data == file.read(), path)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "no-ending")
        check_eq(facet("as", "examples/xphmg/hello.s", "--isa", "xphmg", "-o", path).returncode, 0)
        check_eq(filled(path)[0], {"name": "no-ending", "kind": "file"})


@case()
def a_name_cannot_end_the_block():
    with tempfile.TemporaryDirectory() as folder:
        name = '<!--<script>"\\\udcff.s'
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"EXIT\n")
        made, data, page = filled(name, folder=folder)
        check_eq(data, b"EXIT\n")
        check(made["name"].startswith('<!--<script>"\\') and "ff" in made["name"], made["name"])
        check(b"<script>" not in page and page.count(b"<!--") == 0, "the name stands in the page as it is")


@case()
def what_cannot_be_shown_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = image_of(folder)
        text = os.path.join(folder, "page.txt")
        with open(text, "w", encoding="utf-8") as file:
            file.write("no mark in here\n")
        for words, others, said in (
                (["view"], {}, "expected a FILE"),
                (["view", path, "-o", os.path.join(folder, "x.html"), "--no-open"], {}, "--no-open"),
                (["view", "examples/tile/fill.s", "--root", "5", "-o", "/dev/null"], {}, "--root is for BVH images"),
                (["view", "README.md", "-o", "/dev/null"], {}, "README.md is text"),
                (["view", path, "-o", path], {}, "the input"),
                (["view", path, "-o", "/dev/null"], {"FACET_PAGE": text}, "<!--facet-input-->"),
                (["view", path, "-o", "/dev/null"], {"FACET_PAGE": "/nowhere/page.html"}, "/nowhere/page.html"),
        ):
            result = subprocess.run([FACET, *words], cwd=SOURCE, env={**environment(), **others}, capture_output=True, timeout=60,
                                    check=False)
            check_eq(result.returncode, 2, words)
            check(said in result.stderr.decode(), f"{words}: {result.stderr}")
            check(not os.path.exists(os.path.join(folder, "x.html")), "something was written")


@case()
def without_the_page_the_message_says_how_to_make_it():
    with tempfile.TemporaryDirectory() as folder:
        alone = os.path.join(folder, "facet")
        with open(FACET, "rb") as source, open(alone, "wb") as target:
            target.write(source.read())
        os.chmod(alone, 0o755)
        others = environment()
        del others["FACET_PAGE"]
        words = [alone, "view", "examples/tile/fill.s", "-o", os.path.join(folder, "out.html")]
        result = subprocess.run(words, cwd=SOURCE, env=others, capture_output=True, timeout=60, check=False)
        check_eq(result.returncode, 2)
        check(b"`make web`" in result.stderr, result.stderr)
        os.makedirs(os.path.join(folder, "web"))
        with open(PAGE, "rb") as source, open(os.path.join(folder, "web/page.html"), "wb") as target:
            target.write(source.read())
        check_eq(subprocess.run(words, cwd=SOURCE, env=others, capture_output=True, timeout=60, check=False).returncode, 0)


# ---- the server ----

class Served:
    """`facet view` on a port."""

    def __init__(self, *options, **others):
        self.process = subprocess.Popen([FACET, "view", "examples/tile/fill.s", *options], cwd=SOURCE, env=environment(**others),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self):
        address = self.process.stdout.readline().decode()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)\n", address)
        check(match, f"printed {address!r}: {'' if address else self.process.stderr.read()}")
        self.port, self.path = int(match.group(1)), match.group(2)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 20)

    def ask(self, request):
        """The answer to the bytes, read to its end."""
        with self.connect() as line:
            line.sendall(request)
            answer = b""
            while part := line.recv(65536):
                answer += part
            return answer

    def get(self, path=None, method="GET", host=None):
        host = f"127.0.0.1:{self.port}" if host is None else host
        return self.ask(f"{method} {self.path if path is None else path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())


@case()
def the_page_is_served_to_its_address_only():
    with Served("--no-open") as served:
        head, _, body = served.get().partition(b"\r\n\r\n")
        check(head.startswith(b"HTTP/1.1 200 "), head)
        check(BLOCK.search(body) and f"Content-Length: {len(body)}".encode() in head, head)
        check(served.get(method="HEAD").endswith(b"\r\n\r\n"), "HEAD has a body")
        check(served.get(served.path + "?from=mail").startswith(b"HTTP/1.1 200 "), "a query is not part of the path")
        for path in ("/", served.path[:-1], served.path + "x", "/" + "0" * 32 + "/", ".." + served.path, "*"):
            check(served.get(path).startswith(b"HTTP/1.1 404 "), path)
        for host in ("evil.example", f"localhost:{served.port}", "127.0.0.1", f"127.0.0.1:{served.port}x", ""):
            check(served.get(host=host).startswith(b"HTTP/1.1 404 "), host)
        check(served.get(method="POST").startswith(b"HTTP/1.1 405 "), "POST")
        check(served.ask(b"\0\r\n\r\n").startswith(b"HTTP/1.1 400 "), "a NUL")
        check(served.ask(b"GET /" + b"x" * 9000).startswith(b"HTTP/1.1 400 "), "a long request")


@case()
def silent_and_broken_connections_hold_nobody():
    with Served("--no-open") as served:
        silent = [served.connect() for _ in range(20)]
        silent[0].sendall(b"GET ")
        for line in silent[1:5]:
            line.close()
        gone = served.connect()
        gone.sendall(f"GET {served.path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode())
        gone.close()
        check(served.get().startswith(b"HTTP/1.1 200 "), "not served beside silent connections")
        for line in silent[5:]:
            line.close()
        check(served.get().startswith(b"HTTP/1.1 200 "), "not served afterwards")


@case()
def two_servers_have_two_addresses():
    with Served("--no-open") as one, Served("--no-open") as other:
        check(one.port != other.port and one.path != other.path, "the same")


@case()
def it_ends_by_signals_and_by_the_clock():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Served("--no-open", "-q") as served:
            served.process.send_signal(number)
            check_eq(served.process.wait(20), 0, number)
    with Served("--no-open", "--max-seconds", "0.5") as served:
        check_eq(served.process.wait(20), 124)


@case()
def the_browser_gets_the_address():
    with tempfile.TemporaryDirectory() as folder:
        browser, told = os.path.join(folder, "xdg-open"), os.path.join(folder, "told")
        with open(browser, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho noise\necho "$#" "$1" >"{told}.new" && mv "{told}.new" "{told}"\n')
        os.chmod(browser, os.stat(browser).st_mode | stat.S_IXUSR)
        with Served(PATH=f"{folder}:{os.environ['PATH']}") as served:
            for _ in range(200):
                if os.path.exists(told):
                    break
                time.sleep(0.05)
            with open(told, encoding="utf-8") as file:
                check_eq(file.read(), f"1 http://127.0.0.1:{served.port}{served.path}\n")
            served.process.send_signal(signal.SIGINT)
            check_eq(served.process.wait(20), 0)
            check_eq(served.process.stdout.read(), b"", "what the browser prints")
        with Served(PATH=folder + "/nothing") as served:
            check(served.get().startswith(b"HTTP/1.1 200 "), "without a browser")
            served.process.send_signal(signal.SIGINT)
            check(b"xdg-open did not start" in served.process.stderr.read(), "no word about the browser")


main("view")
