import Glibc

/// An SVG line chart. A numeric axis is logarithmic if the ratio of its values exceeds `linearSpanMax`.
struct LineChart {
    struct Line {
        var name: String
        var isDashed = false
        /// The group of the line. Lines of a group have the same color.
        var group: String
        var points: [(x: Double, y: Double)]
    }

    static let height = 540.0
    private static let plot = (left: 80.0, top: 126.0, bottom: 470.0)
    private static let marginRight = 40.0
    /// Colors that are distinguishable with most color vision deficiencies (Okabe and Ito).
    private static let colors = ["#7a7a7a", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"]
    /// The maximum ratio of the largest to the smallest value on a linear axis.
    private static let linearSpanMax = 12.0

    let title: String
    let xLabel: String
    let yLabel: String
    let width: Double
    /// The categories of the x axis, at equal distances; nil for a numeric axis.
    let xValues: [Double]?
    var lines: [Line] = []

    init(title: String, xLabel: String, yLabel: String, width: Double = 960, xValues: [Double]? = nil) {
        (self.title, self.xLabel, self.yLabel, self.width, self.xValues) = (title, xLabel, yLabel, width, xValues)
    }

    /// An SVG fragment of `width` by `height`.
    var svg: String {
        let points = lines.flatMap(\.points)
        let x =
            xValues.map { Axis(categories: $0, from: Self.plot.left, to: right) }
            ?? Axis(points.map(\.x), from: Self.plot.left, to: right)
        let y = Axis(points.map(\.y), from: Self.plot.bottom, to: Self.plot.top)
        return """
            <text x="\(Int(Self.plot.left))" y="36" font-size="22" font-weight="600">\(title.escapedForSVG)</text>
            \(legend)
            \(grid(x, y))
            \(lines.map { path(of: $0, x, y) }.joined(separator: "\n"))
            """
    }

    private var right: Double { width - Self.marginRight }

    private func grid(_ x: Axis, _ y: Axis) -> String {
        let left = Self.plot.left
        let rows = y.ticks.map { tick in
            let height = number(y.position(of: tick))
            return """
                <line x1="\(left)" x2="\(right)" y1="\(height)" y2="\(height)" stroke="#ddd"/>\
                <text x="\(left - 10)" y="\(number(y.position(of: tick) + 5))" text-anchor="end">\(label(tick))</text>
                """
        }
        let columns = x.ticks.map { tick in
            """
            <text x="\(number(x.position(of: tick)))" y="\(Self.plot.bottom + 24)" text-anchor="middle">\(label(tick))</text>
            """
        }
        let labels = """
            <text x="\((left + right) / 2)" y="\(Self.height - 14)" text-anchor="middle">\(xLabel.escapedForSVG)</text>
            <text x="20" y="\(Self.plot.top - 14)">\(yLabel.escapedForSVG)</text>
            """
        return (rows + columns + [labels]).joined(separator: "\n")
    }

    private func path(of line: Line, _ x: Axis, _ y: Axis) -> String {
        let places = line.points.map { (number(x.position(of: $0.x)), number(y.position(of: $0.y))) }
        let dots = places.map { #"<circle cx="\#($0.0)" cy="\#($0.1)" r="4" fill="\#(color(of: line))"/>"# }
        return """
            <polyline points="\(places.map { "\($0.0),\($0.1)" }.joined(separator: " "))" fill="none" \(stroke(of: line))/>\
            \(line.isDashed ? "" : dots.joined())
            """
    }

    private var legend: String {
        lines.enumerated().map { index, line in
            let (x, y) = (Int(Self.plot.left) + index / 2 * 230, 62 + index % 2 * 22)
            return """
                <line x1="\(x)" x2="\(x + 34)" y1="\(y - 5)" y2="\(y - 5)" \(stroke(of: line))/>\
                <text x="\(x + 42)" y="\(y)">\(line.name.escapedForSVG)</text>
                """
        }.joined(separator: "\n")
    }

    private func stroke(of line: Line) -> String {
        #"stroke="\#(color(of: line))" stroke-width="2.5""# + (line.isDashed ? #" stroke-dasharray="7 6""# : "")
    }

    private func color(of line: Line) -> String {
        var groups: [String] = []
        for line in lines where !groups.contains(line.group) { groups.append(line.group) }
        return Self.colors[(groups.firstIndex(of: line.group) ?? 0) % Self.colors.count]
    }

    private func number(_ figure: Double) -> String { Figures.decimal(figure, places: 1) }

    /// Formats the figure with commas between thousands, or with one decimal place below 1.
    private func label(_ figure: Double) -> String {
        guard figure >= 1 || figure == 0 else { return Figures.decimal(figure, places: 1) }
        let digits = Array(Figures.decimal(figure, places: 0))
        return digits.indices.reduce(into: "") { text, place in
            if place > 0, (digits.count - place).isMultiple(of: 3) { text.append(",") }
            text.append(digits[place])
        }
    }

    private struct Axis {
        let ticks: [Double]
        private let isLogarithmic: Bool
        private let isCategorical: Bool
        private let from: Double
        private let to: Double
        private let (lowest, highest): (Double, Double)

        init(categories: [Double], from: Double, to: Double) {
            (ticks, isLogarithmic, isCategorical) = (categories, false, true)
            (self.from, self.to) = (from, to)
            (lowest, highest) = (0, Double(max(1, categories.count - 1)))
        }

        init(_ figures: [Double], from: Double, to: Double) {
            isCategorical = false
            (self.from, self.to) = (from, to)
            let most = Swift.max(figures.max() ?? 1, 1e-3)
            let least = Swift.max(Swift.min(figures.min() ?? most, most), most / 1e6)
            isLogarithmic = most / least > LineChart.linearSpanMax
            if isLogarithmic {
                // Each tick is 1, 2 or 5 times a power of ten.
                let steps = (-3...7).flatMap { power in [1, 2, 5].map { $0 * pow(10, Double(power)) } }
                let first = steps.lastIndex { $0 <= least } ?? 0
                let last = steps.firstIndex { $0 >= most } ?? steps.count - 1
                ticks = Array(steps[first...last])
            } else {
                let rough = most / 5
                let power = pow(10, floor(log10(rough)))
                let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough
                ticks = (0...Int((most / step).rounded(.up))).map { Double($0) * step }
            }
            (lowest, highest) = (ticks.first ?? 0, ticks.last ?? 1)
        }

        func position(of figure: Double) -> Double {
            let figure = isCategorical ? Double(ticks.firstIndex(of: figure) ?? 0) : figure
            func scale(_ figure: Double) -> Double { isLogarithmic ? log10(Swift.max(figure, lowest)) : figure }
            let span = scale(highest) - scale(lowest)
            return from + (to - from) * (span > 0 ? (scale(figure) - scale(lowest)) / span : 0.5)
        }
    }
}
