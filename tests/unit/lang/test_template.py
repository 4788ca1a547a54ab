"""Templates: where `$(…)` begins and ends."""

import pytest

from engine.lang.template import Hole, Template, TemplateError, parse_template


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("plain", ("plain",)),
        ("$(a.b)", (Hole("a.b", 2),)),
        ("x$(a)y$(b)", ("x", Hole("a", 3), "y", Hole("b", 8))),
        ("$( a )", (Hole("a", 3),)),
        ("$$(a)", ("$(a)",)),
        ("a $$(b) $(c)", ("a $(b) ", Hole("c", 10))),
        ("$(f(')', x))", (Hole("f(')', x)", 2),)),
        ("$(a[?b == '\\')'])", (Hole("a[?b == '\\')']", 2),)),
        ('$("a)b".c)', (Hole('"a)b".c', 2),)),
        ('$(a == `")"`)', (Hole('a == `")"`', 2),)),
        ("$(re_match('x{2,}', b))", (Hole("re_match('x{2,}', b)", 2),)),
        ("${HOME} {{ x }} $5", ("${HOME} {{ x }} $5",)),
    ],
)
def test_a_text_is_cut_at_its_templates(text, parts):
    assert parse_template(text) == Template(parts)


@pytest.mark.parametrize(("text", "start", "end"), [("$(a", 0, 3), ("x $(f('a)", 2, 9), ("$()", 0, 3), ("$(  )", 0, 5)])
def test_a_template_that_is_not_closed_or_empty_is_refused_with_its_place(text, start, end):
    with pytest.raises(TemplateError) as caught:
        parse_template(text)
    assert (caught.value.start, caught.value.end) == (start, end)
    assert caught.value.remedy


def test_a_template_that_is_one_hole_is_alone_and_others_are_not():
    assert parse_template("$(a)").alone == Hole("a", 2)
    assert parse_template("$(a)b").alone is None
    assert parse_template("a").alone is None


def test_only_a_text_without_holes_is_literal():
    assert parse_template("a$$(b").literal == "a$(b"
    assert parse_template("a$(b)").literal is None
