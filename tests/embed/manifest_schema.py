#!/usr/bin/env python3
"""manifest_schema.py SCHEMA MANIFEST...: holds manifests to the schema, and the schema to them.

Every manifest is valid. Every member of the schema is described and stands in one of the manifests.
A manifest with a member that is missing, of another kind or unknown is not valid: each member at
each place is damaged in each way."""

import copy
import json
import sys

import jsonschema

OPTIONAL = {"cost", "portfolio", "smallest_break", "im2col"}
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print(text)


def check_described(node, place):
    """Every object and member of the schema is described; objects are closed."""
    if "properties" in node:
        if node.get("additionalProperties") is not False:
            complain(f"{place}: open for other members")
        for name, member in node["properties"].items():
            if not member.get("description"):
                complain(f"{place}.{name}: not described")
            known.add((place.rsplit("/", 1)[-1], name))
            check_described(member, f"{place}/{name}")
    for key in ("items", "propertyNames"):
        if isinstance(node.get(key), dict):
            check_described(node[key], place)


known = set()
check_described(schema, "manifest")
for name, definition in schema["$defs"].items():
    if not definition.get("description"):
        complain(f"{name}: not described")
    check_described(definition, name)


def members(node, pattern=""):
    """The place of every member, with `*` for the places of arrays: /kernels/*/name."""
    if isinstance(node, list):
        for item in node:
            yield from members(item, pattern + "/*")
    elif isinstance(node, dict):
        kind = "" if not isinstance(node.get("kind"), str) else ":" + node["kind"]
        for name, value in node.items():
            place = f"{pattern}{kind}/{name}"
            yield place
            if name != "smallest_break":
                yield from members(value, place)


# Manifests of one variant or one stage each: few that have all members together.
def small_manifests(manifest):
    for kernel in manifest["kernels"]:
        for stage in kernel["stages"] + [None]:
            variants = kernel["variants"] if stage is None else stage["variants"]
            for variant in variants:
                one = dict(kernel, stages=[])
                if stage is None:
                    one["variants"] = [variant]
                else:
                    one["stages"] = [dict(stage, variants=[variant])]
                    one["variants"] = kernel["variants"][:1]
                yield dict(manifest, kernels=[one])


chosen, covered, seen_names = [], set(), set()
for path in sys.argv[2:]:
    manifest = json.load(open(path))
    for error in validator.iter_errors(manifest):
        complain(f"{path}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
    seen_names |= {place.rsplit("/", 1)[-1] for place in members(manifest)}
    for small in small_manifests(manifest):
        places = set(members(small))
        if not places <= covered:
            covered |= places
            chosen.append(small)

for owner, name in sorted(known):
    if name not in seen_names:
        complain(f"{owner}.{name}: in no manifest")


def damaged(node, root, done, pattern=""):
    """What is damaged and how, with the whole changed in place meanwhile; each place once."""
    if isinstance(node, list):
        for item in node:
            yield from damaged(item, root, done, pattern + "/*")
        return
    if not isinstance(node, dict):
        return
    kind = "" if not isinstance(node.get("kind"), str) else ":" + node["kind"]
    if pattern + kind not in done:
        done.add(pattern + kind)
        node["unknown_member"] = 1
        yield f"{pattern}{kind}: a member too many"
        del node["unknown_member"]
    for name in list(node):
        place, value = f"{pattern}{kind}/{name}", node[name]
        if place not in done:
            done.add(place)
            if name not in OPTIONAL or name in ("cost", "portfolio"):
                del node[name]
                yield f"{place}: missing"
            for other in (None, 1.5, "", -1, [None], {"unknown_member": None}):
                node[name] = other
                yield f"{place}: {json.dumps(other)}"
            node[name] = value
        if name != "smallest_break":
            yield from damaged(value, root, done, place)


count, done = 0, set()
ALLOWED = {"/origin: \"\""}  # a guard of the signature comes from no operation
for small in chosen:
    whole = copy.deepcopy(small)
    for what in damaged(whole, whole, done):
        count += 1
        if validator.is_valid(whole) and not any(what.endswith(end) for end in ALLOWED):
            complain(f"valid though damaged: {what}")
    assert whole == small
if count < 300:
    complain(f"only {count} damages were tried")
print(f"{wrong} wrong")
sys.exit(wrong > 0)
