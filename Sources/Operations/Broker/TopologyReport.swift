import Delivery

/// The topology as a page to read.
enum TopologyReport {
    /// - Parameter version: of the broker; nil: what every version takes.
    static func table(_ topology: Topology, version: BrokerVersion? = nil) -> String {
        let exchanges = topology.exchanges.map { [$0.name, $0.kind.rawValue, text($0.arguments)] }
        let queues = topology.queues(at: version).map { [$0.name, text($0.arguments)] }
        let bindings = topology.bindings.map { [$0.exchange, $0.shownDestination, $0.routingKey] }
        var sections = [
            section(["EXCHANGE", "KIND", "ARGUMENTS"], exchanges),
            section(["QUEUE", "ARGUMENTS"], queues),
            section(["FROM EXCHANGE", "TO QUEUE", "ROUTING KEY"], bindings),
        ]
        let policies = version.map { topology.policies(of: $0) } ?? []
        if !policies.isEmpty {
            let rows = policies.map { [$0.name, $0.pattern, text($0.definition)] }
            sections.append(section(["POLICY", "OF QUEUES", "DEFINITION"], rows))
        }
        return sections.joined(separator: "\n")
    }

    private static func section(_ titles: [String], _ rows: [[String]]) -> String {
        let table = TextTable(titles: titles, fitting: rows)
        return ([table.header] + rows.map(table.line)).map { $0 + "\n" }.joined()
    }

    private static func text(_ arguments: [Topology.Argument]) -> String {
        arguments.map { "\($0.name)=\($0.value.text)" }.joined(separator: " ")
    }
}

extension Topology.Binding {
    /// An exchange says that it is one, since most lead to queues.
    var shownDestination: String {
        switch kind {
        case .queue: destination
        case .exchange: "exchange \(destination)"
        }
    }
}

extension Topology.Argument.Value {
    var text: String {
        switch self {
        case .text(let text): text.isEmpty ? "\"\"" : text
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        }
    }
}
