import JSON
import TestKit

/// The goals of `history` and `console` with the measured values, as a table and as JSON.
struct ConsoleReport {
    let benchmark: String
    let options: ConsoleOptions
    var goals: [Goal] = []
    /// Figures without a goal.
    var figures: [Figure] = []

    var table: String {
        let others = figures.map { "\(Figures.cell($0.value, places: $0.places, width: 8))           \($0.title)" }
        return ["\(options.rows) results in the history", ""].joined(separator: "\n") + "\n"
            + (goals.map(\.line) + others).joined(separator: "\n")
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", benchmark)
        json.member("rows", options.rows)
        json.beginArray("goals")
        for goal in goals { goal.write(to: &json) }
        json.endArray()
        json.key("figures")
        json.figures(figures)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Prints the report.
    ///
    /// - Throws: an error if goals are not met, unless the options are those of `--quick`.
    func finish() throws {
        print(options.wantsJSON ? json : table)
        let missed = goals.count { !$0.isMet }
        guard missed == 0 || !options.enforcesGoals else {
            throw ProcessError("\(missed) of \(goals.count) goals are not met")
        }
    }
}
