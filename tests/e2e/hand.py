"""A person's hand on the diagram: what it takes hold of, drags and presses."""

from __future__ import annotations

# Where a lane and a time lie on the screen.
PLACE = """([lane, time]) => {
  const plot = document.querySelector(".cc-diagram");
  const { xaxis, yaxis } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  const isDown = "ticktext" in plot.layout.xaxis;
  const [x, y] = isDown ? [lane, time] : [time, lane];
  return [box.left + xaxis._offset + xaxis.d2p(x), box.top + yaxis._offset + yaxis.d2p(y)];
}"""
# Waits until lanes and times have stayed in their places on the screen for three frames: a step or an answer of Python
# may change the height of the sentence above the diagram, and then the diagram is drawn for another room.
STILL = """() => new Promise((resolve) => {
  let before = "", same = 0;
  const look = () => {
    const plot = document.querySelector(".cc-diagram");
    const { left, top, width, height } = plot.getBoundingClientRect();
    const { xaxis, yaxis, width: drawn, height: high } = plot._fullLayout;
    const own = [left, top, width, height, drawn, high, ...xaxis.range, ...yaxis.range].join();
    same = own === before ? same + 1 : 0;
    before = own;
    if (same === 3) resolve();
    else requestAnimationFrame(look);
  };
  look();
})"""
ZOOM = """(({ xaxis, yaxis }) => JSON.stringify([xaxis.range, yaxis.range]))(
  document.querySelector(".cc-diagram").layout)"""


class Hand:
    """A person's hand on the diagram."""

    def __init__(self, explorer):
        self.explorer, self.page, self.mouse = explorer, explorer.page, explorer.page.mouse

    def handle(self, label):
        return self.page.get_by_role("slider", name=label, exact=True)

    def told(self, label):
        """What the handle says of its time, such as `arrives at 873, sent at 736`."""
        return self.handle(label).get_attribute("aria-valuetext")

    def at(self, lane, time):
        self.page.evaluate(STILL)
        return self.page.evaluate(PLACE, [lane, time])

    def grip(self, label):
        self.page.evaluate(STILL)
        box = self.handle(label).bounding_box()
        self.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.mouse.down()

    def drag(self, label, lane, time, drop=True):
        """Take hold of a handle and move it to a time; what the preview says then."""
        self.grip(label)
        self.mouse.move(*self.at(lane, time), steps=4)
        said = self.page.locator(".cc-preview-words").text_content()
        if drop:
            self.drop()
        return said

    def drop(self):
        self.mouse.up()
        self.settle()

    def settle(self):
        self.page.wait_for_selector(".cc:not([data-pending])")
        self.page.evaluate(STILL)

    def zoom(self):
        return self.page.evaluate(ZOOM)

    def edits(self):
        self.explorer.tab("Change")
        return self.explorer.edits()

    def toolbar(self, label):
        """Click a handle and wait for what opens."""
        self.handle(label).click()
        return self.page.locator(".cc-toolbar")

    def press(self, button):
        button.click()
        self.settle()
