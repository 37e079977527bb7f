import BrokerTopology
import Delivery
import Glibc
import JSON
import TestKit
import Testing
import YAML

@testable import Configuration

/// The document `schemas/asyncapi.yaml`, which matches the worker's topology and has no dangling reference.
@Suite struct AsyncAPITests {
    private let document: YAMLDocument

    init() throws {
        document = try YAMLDocument(
            try FileReader.bytes(of: Products.file("schemas/asyncapi.yaml"), bytesMax: YAMLDocument.bytesMax))
    }

    @Test func itsReferencesExist() throws {
        var references: [String] = []
        collect(document.root, &references)
        #expect(references.count > 10)
        for reference in references {
            if reference.hasPrefix("#/") {
                #expect(document.root.at(pointer: String(reference.dropFirst())) != nil, "\(reference)")
            } else {
                #expect(access(Products.file("schemas/\(reference)"), F_OK) == 0, "\(reference)")
            }
        }
    }

    @Test func everySchemaOfMessagesIsNamed() throws {
        var references: [String] = []
        collect(document.root, &references)
        for schema in PrintedSchema.allCases where schema != .config && schema != .asyncapi {
            #expect(references.contains("./\(schema.rawValue).schema.json"))
        }
    }

    @Test func itsNamesMatchTheTopology() throws {
        let topology = Topology(hasChannelCommands: true, hasRegistrations: true)
        let bindings = try #require(document.root["channels"]).members.compactMap { $0.value["bindings"]?["amqp"] }
        #expect(bindings.count == 10)
        for binding in bindings {
            let name = (binding["exchange"] ?? binding["queue"])?["name"]?.string
            if let exchange = binding["exchange"] {
                let declared = topology.exchanges.first { $0.name == name }
                #expect(declared?.kind.rawValue == exchange["type"]?.string)
            } else {
                #expect(topology.queues.contains { $0.name == name })
            }
        }
        let outcomes = document.root["channels"]?["results"]?["parameters"]?["outcome"]?["enum"]?.elements
        let others = ["channel", "fanout", "registration"]
        #expect(outcomes?.compactMap { $0.string } == Outcome.allCases.map(\.rawValue) + others)
    }

    @Test func itsDelaysMatchTheDefaultConfiguration() throws {
        let parameters = try #require(document.root.at(pointer: "/channels/waitQueues/parameters"))
        #expect(
            parameters["delay"]?["examples"]?.elements.compactMap { $0.string } == WaitDelay.defaults.map(\.label))
        #expect(parameters["sibling"]?["enum"]?.elements.map { $0.string }.count == WaitDelay.siblings)
    }

    // Each channel has a unique address, as tools require.
    @Test func addressesAreUnique() throws {
        let addresses = try #require(document.root["channels"]).members.compactMap { $0.value["address"]?.string }
        #expect(addresses.count == 10)
        #expect(Set(addresses).count == addresses.count)
    }

    // Results and dead letters have no AMQP timestamp. A dead letter has the content type of its request, which may be
    // missing.
    @Test func onlyPublishedPropertiesAreDescribed() throws {
        for operation in ["publishResult", "publishDeadLetter"] {
            let binding = document.root.at(pointer: "/operations/\(operation)/bindings/amqp")
            #expect(binding?["timestamp"]?.bool == false)
            #expect(binding?["deliveryMode"]?.int == 2 && binding?["mandatory"]?.bool == true)
        }
        let messages = try #require(document.root.at(pointer: "/components/messages"))
        #expect(messages["deadLetter"]?["contentType"] == nil && document.root["defaultContentType"] == nil)
        #expect(messages["result"]?["contentType"]?.string == "application/json")
        for name in ["notification", "result", "fanout", "deadLetter"] {
            let message = messages[key: name]
            #expect(message?["correlationId"]?["location"]?.string?.hasPrefix("$message.") == true, "\(name)")
            #expect(message?["description"]?.string?.contains("message-id") == true, "\(name)")
        }
    }

    private func collect(_ value: JSONValue, _ references: inout [String]) {
        if let reference = value["$ref"]?.string { references.append(reference) }
        if value.kind == .object { for (_, member) in value.members { collect(member, &references) } }
        if value.kind == .array { for element in value.elements { collect(element, &references) } }
    }
}
