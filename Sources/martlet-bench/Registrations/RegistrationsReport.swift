import JSON
import Text

/// The figures and goals of `registrations`, as a table and as JSON.
struct RegistrationsReport {
    /// The figures of programs that did the same work.
    struct Section {
        let title: String
        let key: String
        /// The figures of each program. The first row has all figures of the section.
        var rows: [(name: String, figures: [Figure])] = []

        init(_ title: String, _ key: String) {
            (self.title, self.key) = (title, key)
        }
    }

    private static let nameWidth = 26

    let options: RegistrationsOptions
    var sections: [Section] = []
    var goals: [Goal] = []

    init(options: RegistrationsOptions) {
        self.options = options
    }

    var table: String {
        """
        \(options.description)

        \(sections.map(Self.table).joined(separator: "\n\n"))

        \(goals.map(\.line).joined(separator: "\n"))
        """
    }

    private static func table(of section: Section) -> String {
        let header = section.title.padded(to: nameWidth) + Figure.header(section.rows.first?.figures ?? [])
        return ([header] + section.rows.map { line($0.name, $0.figures) }).joined(separator: "\n")
    }

    static func line(_ name: String, _ figures: [Figure]) -> String { name.padded(to: nameWidth) + Figure.row(figures) }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "registrations")
        json.member("stored_registrations", options.groups.deviceCount)
        json.member("seconds", options.seconds)
        json.member("messages", options.messages)
        json.member("samples", options.samples)
        for section in sections {
            json.key(section.key)
            json.beginObject()
            for (name, figures) in section.rows {
                json.key(name)
                json.figures(figures)
            }
            json.endObject()
        }
        json.beginArray("goals")
        for goal in goals { goal.write(to: &json) }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
