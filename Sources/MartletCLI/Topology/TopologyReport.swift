import BrokerTopology
import CommandKit

/// The topology as a table for operators.
enum TopologyReport {
    /// Returns the tables of exchanges, queues, bindings and policies.
    ///
    /// - Parameter version: broker version; nil to show only declarations that every version accepts.
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
