/// A check of the contrast of texts (WCAG 2.2, 1.4.3).
public enum Contrast {
    /// A JavaScript expression that returns a line for each visible text with a contrast below 4.5: the contrast, the
    /// element, and the text.
    ///
    /// If the background has several colors, as in a gradient, the lowest contrast counts.
    public static let belowLimit = """
        (() => {
          const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
          const parse = (color) => {
            context.clearRect(0, 0, 1, 1);
            context.fillStyle = color;
            context.fillRect(0, 0, 1, 1);
            const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
            return { red, green, blue, alpha: alpha / 255 };
          };
          const over = (top, below) => {
            const mix = (part) => top[part] * top.alpha + below[part] * (1 - top.alpha);
            return { red: mix("red"), green: mix("green"), blue: mix("blue"), alpha: 1 };
          };
          const luminance = (color) => {
            const [red, green, blue] = [color.red, color.green, color.blue].map((value) => {
              const part = value / 255;
              return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          };
          const ratio = (one, other) => {
            const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
            return (light + 0.05) / (dark + 0.05);
          };
          const grounds = (element) => {
            for (let at = element; at; at = at.parentElement) {
              const style = getComputedStyle(at);
              const stops = style.backgroundImage.match(/(?:rgb|oklch|color)a?\\([^)]*\\)/g) ?? [];
              if (stops.length > 0) return stops.map(parse);
              const ground = parse(style.backgroundColor);
              if (ground.alpha === 1) return [ground];
              if (ground.alpha > 0) return grounds(at.parentElement).map((below) => over(ground, below));
            }
            return [parse("white")];
          };
          const bad = [];
          const judge = (element, text, pseudo) => {
            const color = parse(getComputedStyle(element, pseudo).color);
            const worst = Math.min(...grounds(element).map((ground) => ratio(over(color, ground), ground)));
            if (worst < 4.5) bad.push(`${worst.toFixed(2)} ${element.tagName}.${element.className}: ${text.slice(0, 40)}`);
          };
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            const text = walker.currentNode.data.trim();
            if (text !== "" && element.checkVisibility() && !element.closest("noscript")) judge(element, text);
          }
          for (const field of document.querySelectorAll("input[placeholder]")) {
            if (field.checkVisibility()) judge(field, field.placeholder, "::placeholder");
          }
          return [...new Set(bad)].join("\\n");
        })()
        """
}
