"""Building sections: what is refused in a pack, where, and with which code."""

import pytest

from tests.unit.lang.small import codes, linked, pack, program


def found(body, **extra):
    return [(d.code, str(d.place).split(":", 1)[1], d.message) for d in linked(body, **extra).diagnostics.sorted()]


def rule(section, text):
    return f"    {section}:\n      - id: it\n{text}"


@pytest.mark.parametrize(
    ("body", "code", "at", "words"),
    [
        (rule("pick", "        emit: {lable: x}\n"), "RP423", "8:16", "unknown field `lable`"),
        (rule("pick", "        emit: {size: 1}\n"), "RP423", "8:15", "label is missing"),
        (rule("pick", "        emit: {label: 4}\n"), "RP421", "8:23", "expected str, got 4"),
        (rule("pick", "        emit: {label: x, grade: c}\n"), "RP421", "8:33", "c is none of a, b"),
        (rule("pick", "        emit: {label: x, size: big}\n"), "RP421", "8:32", "expected int"),
        (rule("pick", "        emit: {label: $(item.size)}\n"), "RP413", "8:25", "may be null"),
        (rule("pick", "        emit: {label: $(item.parts)}\n"), "RP421", "8:25", "expected str"),
        (rule("pick", "        emit: {label: x$(item.tags)}\n"), "RP422", "8:26", "a part of a text is str[]"),
        (rule("pick", "        emit: {label: x$(item.size)}\n"), "RP413", "8:26", "a part of a text may be null"),
        (rule("pick", "        emit: {label: $(item.nope)}\n"), "RP401", "8:30", "nope"),
        (rule("pick", "        emit: {label: '$(upper(item.name)'}\n"), "RP320", "8:24", "never closed"),
        (rule("pick", "        emit: {label: [x]}\n"), "RP421", "8:23", "got a list"),
        (rule("pick", "        emit: {label: {x: z}}\n"), "RP421", "8:23", "got an object"),
        (rule("pick", "        emit:\n          label?: x\n"), "RP423", "9:11", "has to be there"),
        (rule("pick", "        emit: {'$(item.name)': x, label: x}\n"), "RP423", "8:16", "a computed key"),
        (rule("either", "        emit: {product: x, exclude: z}\n"), "RP423", "8:15", "do not go together"),
        (rule("either", "        emit: {prodct: x}\n"), "RP423", "8:16", "unknown field `prodct`"),
        (
            rule("rows", "        forEach: {in: item.name, as: part}\n        emit: {id: x}\n"),
            "RP415",
            "8:23",
            "goes over a list",
        ),
        (
            rule("rows", "        forEach: {in: item.parts, as: item}\n        emit: {id: x}\n"),
            "RP201",
            "8:39",
            "is taken",
        ),
        (rule("rows", "        let: {item: '`1`'}\n        emit: {id: x}\n"), "RP201", "8:15", "is taken"),
        (rule("rows", "        when: item.name\n        emit: {id: x}\n"), "RP411", "8:15", "boolean"),
        (rule("rows", "        when: 'false == true'\n        emit: {id: x}\n"), "RP401", "8:16", "false"),
        (rule("rows", "        when: '`1` > `2`'\n        emit: {id: x}\n"), "RP516", "8:15", "always false"),
        (rule("rows", "        when: item.count >\n        emit: {id: x}\n"), "RP301", "8:27", ""),
        (rule("refusals", "        emit: {refuse: X}\n"), "RP202", "7:9", "without a message"),
        (rule("rows", "        emit: {id: x}\n        message: no\n"), "RP110", "9:18", "no"),
        (rule("rows", "        emit: {id: x}\n        message: text\n"), "RP201", "9:18", "carry no message"),
        (
            "    pick:\n      select: merge\n      rules:\n        - id: it\n          emit: {label: x}\n",
            "RP515",
            "7:15",
            "combines by `first`",
        ),
        ("    pikc:\n      - id: it\n        emit: {label: x}\n", "RP201", "6:5", "unknown section `pikc`"),
    ],
)
def test_a_mistake_is_found_at_its_place(body, code, at, words):
    rows = found(body)
    assert (code, at) in [row[:2] for row in rows], rows
    assert any(words in message for c, _, message in rows if c == code)


def test_a_rule_after_one_that_always_fires_is_unreachable_and_both_places_are_named():
    body = "    pick:\n      - id: always\n        emit: {label: x}\n      - id: never\n        when: item.ready\n        emit: {label: z}\n"
    made = linked(body)
    assert [d.code for d in made.diagnostics] == ["RP512"]
    only = next(iter(made.diagnostics))
    assert "never can never fire" in only.message.replace("`", "").replace("rule ", "")
    assert only.related


def test_a_rule_after_one_that_iterates_may_still_fire():
    body = (
        "    pick:\n      - id: each\n        forEach: {in: item.parts, as: part}\n        emit: {label: $(part.id)}\n"
        "      - id: rest\n        emit: {label: x}\n"
    )
    assert codes(body) == []


def test_a_rule_id_used_twice_in_one_pack_names_both_places():
    body = "    pick:\n      - id: same\n        when: item.ready\n        emit: {label: x}\n    rows:\n      - id: same\n        emit: {id: x}\n"
    made = linked(body)
    assert [d.code for d in made.diagnostics] == ["RP501"]
    assert next(iter(made.diagnostics)).related


def test_has_in_a_when_makes_the_path_there_for_let_and_emit():
    body = rule(
        "pick",
        "        when: has(item.size)\n        let: {twice: 'mul(item.size, `2`)'}\n        emit: {label: $(twice)}\n",
    )
    assert codes(body) == []


def test_a_key_outside_what_the_section_owns_is_refused():
    body = (
        "    labels:\n      owns: ['$(const.prefix)*', other.com/x]\n      rules:\n        - id: it\n          emit:\n"
        "            example.com/a: x\n            other.com/x: x\n            other.com/z: x\n            $(const.prefix)$(item.name): x\n"
        "            $(item.name): x\n            $(item.kind)?: x\n"
    )
    rows = found(body)
    assert [(c, at) for c, at, _ in rows] == [("RP523", "13:13"), ("RP413", "16:15")]


def test_an_owns_pattern_may_hold_constants_only():
    body = "    labels:\n      owns: ['$(item.name)*']\n      rules:\n        - id: it\n          emit: {a: x}\n"
    assert codes(body) == ["RP320"]


def test_a_section_that_emits_keys_of_objects_says_which_are_its_own():
    assert codes(rule("marks", "        emit: {labels: {a: x}}\n")) == ["RP202"]
    owned = "    marks:\n      owns: [a]\n      rules:\n        - id: it\n          emit: {labels: {a: x}, notes: {anything: x}}\n"
    assert codes(owned) == []
    assert codes(owned.replace("labels: {a:", "labels: {b:")) == ["RP523"]


def test_budgets_name_the_limit():
    long = "item.name == '" + "x" * 2100 + "'"
    assert codes(rule("rows", f'        when: "{long}"\n        emit: {{id: x}}\n')) == ["RP810"]
    many = "contains([" + ", ".join(["item.name"] * 100) + "], 'x')"
    assert codes(rule("rows", f'        when: "{many}"\n        emit: {{id: x}}\n')) == ["RP810"]
    deep = "not(" * 30 + "item.ready" + ")" * 30
    assert codes(rule("rows", f'        when: "{deep}"\n        emit: {{id: x}}\n')) == ["RP810"]


def test_constants_and_tables_are_folded_into_texts_and_keys():
    emit = """\
        emit:
          $(const.prefix)a: $(required(lookup(tables.names, 'x'), 'x'))
          $(const.unit): $(concat(const.prefix, `1`))
"""
    made = program(rule("labels", emit), extra="  tables:\n    names: {x: made}\n")
    section = made.section("labels")
    assert section is not None
    assert made.evaluate("labels", {"item": {}}).value == {"example.com/a": "made", "100": "example.com/1"}
    assert section.reads == ()


def test_the_read_set_names_the_shortest_paths_looked_at():
    made = program(rule("pick", "        when: has(item.size) && item.ready\n        emit: {label: $(item.name)}\n"))
    section = made.section("pick")
    assert section is not None
    assert section.reads == (("item", "name"), ("item", "ready"), ("item", "size", "?"))


def test_a_group_with_an_error_inside_is_reported_once():
    body = "    rows:\n      - when: item.ready\n        rules:\n          - id: it\n            emit: {idd: x}\n"
    assert codes(body).count("RP423") == 2  # the unknown field, and the one that is missing


def test_two_derivations_of_one_section_are_refused_with_both_places():
    body = rule("rows", "        emit: {id: x}\n")
    made = linked(pack(body, name="one"), pack(body.replace("id: it", "id: other"), name="two"))
    assert [d.code for d in made.diagnostics] == ["RP601"]
    assert next(iter(made.diagnostics)).related
