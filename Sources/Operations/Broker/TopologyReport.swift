import Delivery
import JSON

/// The topology as a page to read, or as JSON for programs.
enum TopologyReport {
    static func table(_ topology: Topology) -> String {
        let exchanges = topology.exchanges.map { [$0.name, $0.kind.rawValue, text($0.arguments)] }
        let queues = topology.queues.map { [$0.name, text($0.arguments)] }
        let bindings = topology.bindings.map { [$0.exchange, $0.queue, $0.routingKey] }
        return [
            section(["EXCHANGE", "KIND", "ARGUMENTS"], exchanges),
            section(["QUEUE", "ARGUMENTS"], queues),
            section(["FROM EXCHANGE", "TO QUEUE", "ROUTING KEY"], bindings),
        ].joined(separator: "\n")
    }

    private static func section(_ titles: [String], _ rows: [[String]]) -> String {
        let table = TextTable(titles: titles, fitting: rows)
        return ([table.header] + rows.map(table.line)).map { $0 + "\n" }.joined()
    }

    private static func text(_ arguments: [Topology.Argument]) -> String {
        arguments.map { "\($0.name)=\($0.value.text)" }.joined(separator: " ")
    }

    /// One line, with the words of RabbitMQ's definitions files (https://www.rabbitmq.com/docs/definitions).
    static func json(_ topology: Topology) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.key("exchanges")
        json.beginArray()
        for exchange in topology.exchanges {
            json.beginObject()
            json.member("name", exchange.name)
            json.member("type", exchange.kind.rawValue)
            json.member("durable", true)
            json.arguments(exchange.arguments)
            json.endObject()
        }
        json.endArray()
        json.key("queues")
        json.beginArray()
        for queue in topology.queues {
            json.beginObject()
            json.member("name", queue.name)
            json.member("durable", true)
            json.arguments(queue.arguments)
            json.endObject()
        }
        json.endArray()
        json.key("bindings")
        json.beginArray()
        for binding in topology.bindings {
            json.beginObject()
            json.member("source", binding.exchange)
            json.member("destination", binding.queue)
            json.member("destination_type", "queue")
            json.member("routing_key", binding.routingKey)
            json.arguments([])
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
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

extension JSONWriter {
    fileprivate mutating func arguments(_ arguments: [Topology.Argument]) {
        key("arguments")
        beginObject()
        for argument in arguments {
            key(argument.name)
            switch argument.value {
            case .text(let text): string(text)
            case .integer(let number): int(number)
            case .boolean(let flag): bool(flag)
            }
        }
        endObject()
    }
}
