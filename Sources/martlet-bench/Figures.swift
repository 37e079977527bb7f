import JSON

enum Figures {
    static func median(_ figures: [Double]) -> Double {
        let sorted = figures.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Formats the figure with `places` decimal places.
    static func decimal(_ figure: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        let rounded = Int((figure * Double(scale)).rounded())
        guard places > 0 else { return "\(rounded)" }
        let scaled = abs(rounded)
        let fraction = "\(scaled % scale)"
        return (rounded < 0 ? "-" : "") + "\(scaled / scale)." + String(repeating: "0", count: places - fraction.count)
            + fraction
    }

    /// Formats the figure, right-aligned in a column of `width` characters.
    static func cell(_ figure: Double, places: Int, width: Int) -> String {
        let text = decimal(figure, places: places)
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension JSONWriter {
    /// Writes an object of figures, each rounded to `places` decimal places.
    mutating func figures(_ figures: KeyValuePairs<String, Double>, places: Int) {
        beginObject()
        for (name, figure) in figures { member(name, figure, places: places) }
        endObject()
    }

    mutating func member(_ name: String, _ figure: Double, places: Int) {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        key(name)
        double((figure * scale).rounded() / scale)
    }
}

extension Duration {
    var microseconds: Double {
        Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12
    }
}
