import CommandKit
import Delivery

/// The topology as a page to read.
enum TopologyReport {
    /// - Parameter version: of the broker; nil: what every version takes.
    static func table(_ topology: Topology, version: BrokerVersion? = nil) -> String {
        let exchanges = topology.exchanges.map { [$0.name, $0.kind.rawValue, $0.arguments.text] }
        let queues = topology.queues(at: version).map { [$0.name, $0.arguments.text] }
        let bindings = topology.bindings.map { [$0.exchange, $0.shownDestination, $0.shownKey] }
        var sections = [
            section(["EXCHANGE", "KIND", "ARGUMENTS"], exchanges),
            section(["QUEUE", "ARGUMENTS"], queues),
            section(["FROM EXCHANGE", "TO QUEUE", "ROUTING KEY"], bindings),
        ]
        let policies = version.map { topology.policies(of: $0) } ?? []
        if !policies.isEmpty {
            let rows = policies.map { [$0.name, $0.pattern, $0.definition.text] }
            sections.append(section(["POLICY", "OF QUEUES", "DEFINITION"], rows))
        }
        return sections.joined(separator: "\n")
    }

    private static func section(_ titles: [String], _ rows: [[String]]) -> String {
        let table = TextTable(titles: titles, fitting: rows)
        return ([table.header] + rows.map(table.line)).map { $0 + "\n" }.joined()
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

    /// What a message must have: a routing key, or headers.
    var shownKey: String { arguments.isEmpty ? routingKey : arguments.text }

    /// ` by ` and what a message must have; empty where it takes every message.
    var keyText: String { shownKey.isEmpty ? "" : " by \(shownKey)" }
}

extension [Topology.Argument] {
    fileprivate var text: String { map { "\($0.name)=\($0.value.text)" }.joined(separator: " ") }
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
