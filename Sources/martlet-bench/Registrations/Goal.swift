import JSON

/// A goal for a measured value.
struct Goal {
    enum Limit {
        case atLeast(Double)
        case atMost(Double)
    }

    let name: String
    let value: Double
    let limit: Limit

    init(_ name: String, _ value: Double, _ limit: Limit) {
        (self.name, self.value, self.limit) = (name, value, limit)
    }

    var isMet: Bool {
        switch limit {
        case .atLeast(let least): value >= least
        case .atMost(let most): value <= most
        }
    }

    /// The goal as a line of text.
    var line: String {
        let bound =
            switch limit {
            case .atLeast(let least): "at least \(Figures.decimal(least, places: 2))"
            case .atMost(let most): "at most \(Figures.decimal(most, places: 2))"
            }
        return Figures.cell(value, places: 2, width: 8) + (isMet ? "  met      " : "  not met  ") + "\(name): \(bound)"
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("name", name)
        json.member("value", value, places: 3)
        switch limit {
        case .atLeast(let least): json.member("at_least", least, places: 2)
        case .atMost(let most): json.member("at_most", most, places: 2)
        }
        json.key("met")
        json.bool(isMet)
        json.endObject()
    }
}
