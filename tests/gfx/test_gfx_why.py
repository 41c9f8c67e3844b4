"""`facet gfx why`: worked examples of gfx-semantics.md 18 through the command line, what the text
shows, and what bad input gets."""
import json
import os
import struct
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
T2 = bytes.fromhex("004080ff ff000080 10203040 ffffff00")


def run(*args, expect=0):
    done = subprocess.run([FACET, "gfx", "why", *args], capture_output=True, text=True)
    check_eq(done.returncode, expect, done.stderr)
    return done


def explain(data, *args):
    """The JSON explanation of a raw texture."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return json.loads(run("--raw", file.name, *args, "--json").stdout)


def t2(*args):
    return explain(T2, "--format", "UNORM8_RGBA", "--width", "2", "--height", "2", *args)


def result(answer):
    return [int(x["bits"], 16) for x in answer["result"]]


@case()
def example_1_nearest():
    a = t2("--u", "0x3f400000", "--v", "0x3e800000", "--filter", "nearest")
    check_eq(result(a), [0x3F800000, 0, 0, 0x3F008081])
    check_eq(a["flags"], ["NX"])
    check_eq(a["footprint"]["taps"]["t00"]["x"], 1)
    check_eq(a["footprint"]["taps"]["t01"], None)


@case()
def example_2_every_step():
    a = t2("--u", "0.5", "--v", "0x3ecccccd")
    check_eq(result(a), [0x3F0268C9, 0x3E83691D, 0x3EB534A9, 0x3F10371D])
    foot = a["footprint"]
    check_eq(foot["position"], [0x10000, 0xCCCC])
    check_eq(foot["weight"], [32768, 19660])
    check_eq(foot["taps"]["t11"]["channels"]["A"], {"bits": "0x00", "value": 0.0})
    check_eq(foot["taps"]["t10"]["address"], "0x8")
    red = a["channels"]["R"]
    check_eq(red["row0"]["difference"]["value"], 1.0)
    check_eq(red["row0"]["result"]["value"], 0.5)
    check_eq(red["rows"]["result"]["bits"], "0x3f0268c9")
    check_eq(red["flags"], ["NX"])
    check_eq([red[step + "_flags"] for step in ("tap", "filter", "srgb", "narrow")],
             [["NX"], ["NX"], [], []])


@case()
def examples_3_and_4_formats():
    args = ["--u", "0x3800", "--v", "0x3866", "--element", "fp16"]
    check_eq(result(t2(*args)), [0x3827, 0x3634, 0x374F, 0x3604])
    check_eq(result(t2(*args, "--acc", "FP16")), [0x3826, 0x3633, 0x374E, 0x3604])


@case()
def example_6_srgb():
    a = t2("--u", "0.5", "--v", "0.25", "--srgb")
    check_eq(result(a), [0x3E5B2D9A, 0x3C6CA5E0, 0x3D51FFEE, 0x3F404040])
    check_eq(a["channels"]["A"]["srgb"], None)
    check_eq(a["channels"]["R"]["srgb"], "power")
    check_eq(t2("--u", "0", "--v", "0", "--srgb")["channels"]["R"]["srgb"], "end")


@case()
def example_9_swizzle():
    a = explain(bytes([0x80, 0x81, 0x7F, 0x40]), "--format", "snorm8_rgba", "--width", "1",
                "--height", "1", "--u", "0", "--v", "0", "--filter", "nearest", "--swizzle", "bgr1")
    check_eq(result(a), [0x3F800000, 0xBF800000, 0xBF800000, 0x3F800000])


@case()
def example_10_integers():
    a = t2("--u", "1", "--v", "0.75", "--space", "texel", "--element", "INT16", "--acc", "INT32",
           "--scale", "-8")
    check_eq(a["u"], {"bits": "0x0100", "value": 1.0})
    check_eq(result(a), [0x0082, 0x003C, 0x0056, 0x0098])
    check_eq(sorted(a["flags"]), ["DOWNCAST_TAKEN", "NX"])
    check_eq(a["channels"]["R"]["narrow_flags"], ["DOWNCAST_TAKEN"])


@case()
def examples_12_and_13_gather():
    data = b"".join(struct.pack("<f", 10 * (k // 4) + k % 4) for k in range(16))
    args = ["--format", "FP32_R", "--width", "4", "--height", "4", "--space", "texel", "--u", "1.5",
            "--v", "2.5", "--filter", "nearest", "--taps",
            "0 0 .5; -1 0 .125; 1 0 .125; 0 -1 .125; 0 1 0x3dcccccd"]
    a = explain(data, *args)
    check_eq(result(a), [0x41A1CCCD, 0, 0, 0x3F79999A])
    check_eq(len(a["gather"]), 5)
    check_eq(a["channels"]["R"]["taps"][4]["sum"]["bits"], "0x41a1cccd")
    check_eq(result(explain(data, *args, "--average")), [0x41A80000, 0, 0, 0x3F800000])


@case()
def border_codes_and_nan():
    a = t2("--u", "-1", "--v", "0", "--wrap", "border", "--border", "1 0.5 0.25 0")
    check_eq([x["value"] for x in a["result"]], [1.0, 0.5, 0.25, 0.0])
    check_eq(a["footprint"]["taps"]["t00"], {"border": True})
    check_eq(result(t2("--u", "0.75", "--v", "0", "--codes")), [0xFF, 0, 0, 0x80])
    a = t2("--u", "nan", "--v", "0")
    check_eq(a["footprint"], {"kind": "nan"})
    check_eq(a["result"][0], {"bits": "0x7fc00000", "value": "nan"})


@case()
def text_says_what_json_says():
    with tempfile.NamedTemporaryFile() as file:
        file.write(T2)
        file.flush()
        args = ["--raw", file.name, "--width", "2", "--height", "2", "--u", "0.5", "--v", "0.4"]
        text = run(*args).stdout
        for words in ["weight 32768 19660 (of the next one, in 1/65536)",
                      "t11  x 1  y 1  address 0xc  R FF (1)", "filter_flags NX",
                      "result 3F0268C9", "result       R 3F0268C9", "\nflags        NX\n"]:
            check(words in text, words + " is missing in\n" + text)
        text = run(*args, "--srgb", "--taps", "0 0 1").stdout
        check("filtered 3F0268C9 (0.509411395)  srgb power  accumulator" in text, text)


@case()
def bad_input_is_named():
    with tempfile.NamedTemporaryFile() as file:
        file.write(T2)
        file.flush()
        raw = ["--raw", file.name, "--width", "2", "--height", "2"]
        uv = ["--u", "0.5", "--v", "0.5"]
        for args, message in [
            (uv, "either --image"),
            (raw, "expected --u NUMBER"),
            (raw + ["--u", "x", "--v", "0"], "expected a number"),
            (raw + ["--u", "", "--v", "0"], "expected a number"),
            (raw + ["--u", "1 2", "--v", "0"], "more than 1 number"),
            (raw + ["--u", "0x100000000", "--v", "0"], "bits of a FP32 element"),
            (raw + uv + ["--format", "RGB9"], "expected a type and its channels"),
            (["--raw", file.name] + uv, "expected --width"),
            (raw + uv + ["--pitch", "100"], "at offset 0x64: the file ends before it"),
            (raw + uv + ["--format", "FP32_R", "--offset", "2"], "a multiple of its size"),
            (raw + uv + ["--swizzle", "rgbx"], "four of the letters"),
            (raw + uv + ["--border", "1 2"], "expected 4"),
            (raw + uv + ["--taps", "1 2"], "expected du dv weight"),
            (raw + uv + ["--taps", " ;; "], "expected a number"),
            (raw + uv + ["--border", ""], "expected a number"),
            (raw + uv + ["--index", ""], "expected a number"),
            (raw + uv + ["--average"], "only with --taps"),
            (raw + uv + ["--element", "FP64"], "--element FP64"),
            (raw + uv + ["--acc", "BF16"], "--acc BF16"),
            (raw + uv + ["--flags", "fast"], "expected sat"),
            (raw + uv + ["--scale", "0.5"], "whole numbers"),
            (["--image", file.name] + uv, file.name),
            (["--image", file.name, "--width", "1"] + uv, "only with --raw"),
            (["--raw", "/nonexistent", "--width", "2", "--height", "2"] + uv, "/nonexistent"),
        ]:
            done = run(*args, expect=2)
            check(message in done.stderr, f"{args}: {done.stderr}")
            check_eq(done.stdout, "")


main("gfx_why")
