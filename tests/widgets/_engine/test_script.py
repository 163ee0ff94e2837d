"""Test the explorer's script in a page of its own: no kernel answers, unless a test does."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from bdl_teach.widgets._engine.canvas import Picture

pytestmark = pytest.mark.browser

PANEL = {
    "kind": "points", "most": 9, "left": 0.1, "top": 0.1, "width": 0.8, "height": 0.8,
    "x": [-1, 1], "y": [-1, 1], "units": [0, 1, 0, 1], "zeros": ["", ""],
}  # fmt: skip
PAGE = """<!doctype html><div class="jp-Cell"><div class="bdl-explorer"><div class="bdl-head">
<select><option>own</option><option>high</option></select></div><div class="bdl-stage"
style="width: 400px; height: 300px; position: relative"><div id="here"></div></div></div></div>"""
# A model as anywidget's; `says` is the kernel's message.
START = """async ([script, css, panel]) => {
    document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
    const { default: widget } = await import("data:text/javascript," + encodeURIComponent(script));
    const heard = {};
    const values = {
        value: null, alt: "", is_still: false, line: "", place: {}, in_use: false,
        panels: [panel], points: { at: [[-0.5, 0], [0.5, 0]], answers: 3 },
    };
    [window.sent, window.asked] = [[], []]; // what the pointer does; questions whether all is done
    window.model = {
        get: (name) => values[name],
        set: (name, value) => { values[name] = value; },
        save_changes() {},
        send: (content) => (content.act.startsWith("ask") ? asked : sent).push(content),
        on: (name, call) => (heard[name] ??= []).push(call),
        off() {},
    };
    window.says = (name, value) => {
        if (name !== "msg:custom") values[name] = value;
        const calls = heard[name === "msg:custom" ? name : `change:${name}`];
        for (const call of calls ?? []) call(value);
    };
    window.square = (color) => {
        const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 30 });
        const pen = canvas.getContext("2d");
        pen.fillStyle = color;
        pen.fillRect(0, 0, 40, 30);
        return new TextEncoder().encode(canvas.toDataURL());
    };
    widget.render({ model: window.model, el: document.querySelector("#here") });
    await new Promise((done) => setTimeout(done, 50));
}"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    made = browser.new_page()
    made.set_content(PAGE)
    made.evaluate(START, [Picture._esm, Picture._css, PANEL])
    yield made
    made.close()


# Drag the held point in steps, and return what was sent and when; the mouse is down at (x, y).
DRAG = """async ([x, y]) => {
    const svg = document.querySelector(".bdl-hand"), told = [];
    const to = (up) => svg.dispatchEvent(
        new PointerEvent("pointermove", { pointerId: 1, clientX: x, clientY: y - up, buttons: 1 }));
    const rest = (ms) => new Promise((done) => setTimeout(done, ms));
    const says = (answers) => window.says("points", { at: [[-0.5, 0], [0.5, 0]], answers });
    const numbers = () => window.sent.map((one) => one.number);
    to(9);
    await rest(20);
    to(18);
    await rest(20);
    told.push(numbers());
    says(4);
    told.push(numbers());
    to(27);
    const began = performance.now();
    while (numbers().length < 4 && performance.now() < began + 5000) await rest(5);
    return [...told, numbers(), performance.now() - began];
}"""


def test_drag_reports_places_one_message_ahead_of_the_kernels_answers(page: Page) -> None:
    """A view goes on with the numbers of the one that it replaces: here 3."""
    dot = page.locator(".bdl-dot").first
    box = dot.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    unanswered, answered, late, waited = page.evaluate(DRAG, [x, y])
    assert (unanswered, answered, late) == ([4, 5], [4, 5, 6], [4, 5, 6, 7])
    assert waited > 150, "the kernel has answered nothing"
    assert [one["act"] for one in page.evaluate("() => window.sent")] == ["down", *["move"] * 3]
    page.mouse.move(x, y - 60)
    page.mouse.up()
    last, up = page.evaluate("() => window.sent.slice(-2)")
    assert (last["act"], last["i"], up["act"]) == ("move", 0, "up")
    assert last["y"] == pytest.approx(2 * 60 / 240, abs=0.02)
    page.evaluate("n => window.says('points', { at: [[-0.5, 0]], answers: n })", last["number"])
    assert float(dot.get_attribute("cy") or "nan") < 130, "an old answer moves no point"
    at = {"at": [[-0.5, 0.25], [0.5, 0]], "answers": up["number"]}
    page.evaluate("points => window.says('points', points)", at)
    assert float(dot.get_attribute("cy") or "nan") == pytest.approx(30 + 240 * 0.375, abs=1)


def test_picture_that_comes_while_another_loads_follows_it(page: Page) -> None:
    shown = page.evaluate(
        """async () => {
            const image = document.querySelector("img.bdl-picture"), loaded = [];
            image.addEventListener("load", () => loaded.push(image.src));
            const all = ["red", "green", "blue"].map(window.square);
            for (const one of all) window.says("value", new DataView(one.buffer));
            await new Promise((done) => setTimeout(done, 300));
            const places = all.map((one) => new TextDecoder().decode(one));
            return loaded.map((one) => places.indexOf(one));
        }"""
    )
    assert shown == [0, 2]


def test_page_says_that_the_kernel_is_busy_until_all_is_answered(page: Page) -> None:
    sign, menu = page.locator(".bdl-busy"), page.locator("select")
    asked = "() => window.asked.length"
    menu.dispatch_event("change")
    assert page.evaluate(asked) == 0, "most pictures come before the page asks"
    sign.wait_for(state="visible", timeout=5000)
    assert page.evaluate(asked) == 1
    menu.dispatch_event("change")
    page.evaluate("() => window.says('msg:custom', { done: 1 })")
    assert not sign.is_visible()
    page.wait_for_function(f"() => ({asked})() === 2", timeout=5000)
    page.evaluate("() => window.says('msg:custom', { done: 2 })")
    page.wait_for_timeout(400)
    assert page.evaluate(asked) == 2 and not sign.is_visible()


def test_still_and_waiting_sign_leave_the_second_panel_its_room(page: Page) -> None:
    """There the page has the tabs and the controls."""
    page.evaluate("""() => {
        model.set("is_still", true);
        model.set("place", { width: 400, height: 300, beside: [250, 0, 150, 300] });
        says("value", new DataView(square("red").buffer));
    }""")
    page.wait_for_function("document.querySelector('img').style.clipPath")
    left = page.locator(".bdl-stage").bounding_box()["x"]
    sign = page.locator(".bdl-wait").bounding_box()
    assert sign["x"] + sign["width"] <= left + 250 - 14
    cut = page.evaluate("parseFloat(document.querySelector('img').style.clipPath.split(' ')[1])")
    assert 400 - cut <= 250 - 14
