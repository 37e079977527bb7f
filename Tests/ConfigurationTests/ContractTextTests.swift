import APNS
import APNSProtocol
import BrokerTopology
import Delivery
import EventLoop
import JSON
import TestKit
import Testing

@testable import Configuration

/// The descriptions of values in `schemas/`, which match the program.
@Suite struct ContractTextTests {
    @Test func pushTypesAreDescribedWithTheirTopics() throws {
        let property = try property("notification", "/properties/push_type")
        #expect(property["enum"]?.elements.compactMap { $0.string } == PushType.allCases.map(\.rawValue))
        let text = try #require(property["description"]?.string)
        let bare = try #require(text.split(separator: "none for ").last)
        for type in PushType.allCases {
            let suffix = "\(type.topicSuffix)"
            #expect(suffix.isEmpty ? bare.contains(type.rawValue) : text.contains("\(suffix) for \(type.rawValue)"))
        }
    }

    @Test func applesKeysMatchTheSchema() throws {
        let names = try property("notification", "/$defs/aps/properties").members.compactMap { $0.key.string }
        #expect(names.count > 20)
        #expect(names.sorted() == PayloadKeys.aps.sorted())
    }

    @Test func payloadRequirementsAreDescribedForEachPushType() throws {
        let text = try #require(try property("notification", "/properties/payload")["description"]?.string)
        for limit in [
            APNSLimits.payloadBytesMax, APNSLimits.payloadBytesMaxVoIP, APNSLimits.payloadBytesMaxBroadcast,
        ] {
            #expect(text.contains("\(limit)"))
        }
        for type in ["alert", "background", "liveactivity", "controls", "widgets", "fileprovider", "mdm"] {
            #expect(text.contains("\(type): ") || text.contains("\(type), "), "\(type)")
        }
        let collapseID = try property("notification", "/properties/collapse_id")["description"]?.string
        #expect(collapseID?.contains("\(APNSLimits.collapseIDBytesMax) bytes") == true)
    }

    @Test(arguments: [
        ("result", "/properties/error/properties"), ("dead-letter", "/properties"),
    ])
    func allClassesAndCodesAreDescribed(_ schema: String, _ pointer: String) throws {
        let prefix = schema == "result" ? "" : "push-reason-"
        let classes = try #require(try property(schema, "\(pointer)/\(prefix)class")["description"]?.string)
        let codes = try #require(try property(schema, "\(pointer)/\(prefix)code")["description"]?.string)
        let names =
            RequestViolation.Class.allCases.map(\.rawValue) + ["apns", "exhausted", "held", "quarantine", "unknown"]
        // An oversized request has no dead letter from the worker.
        for name in names where name != "size" || schema == "result" {
            #expect(classes.contains(name))
            #expect(codes.contains("\(name): ") || codes.contains("\(name), "), "\(name)")
        }
        for code in JSONError.Code.allCases { #expect(codes.contains(code.rawValue), "\(code)") }
    }

    @Test func describedDefaultsMatchTheConfiguration() throws {
        let limits = WorkerConfiguration.Limits()
        let retry = RetrySchedule()
        let pool = PoolConfiguration(environment: .production, credential: .certificate("-"))
        for (pointer, value) in [
            ("limits/properties/in_flight_max", limits.inFlightMax),
            ("limits/properties/message_bytes_max", limits.messageBytesMax),
            ("limits/properties/bodies_in_flight_bytes_max", limits.bodiesInFlightBytesMax),
            ("limits/properties/drain_deadline_seconds", limits.drainDeadlineSeconds),
            ("retry/properties/attempts_max", retry.attemptsMax),
            ("apns/properties/connections_max", pool.connectionsMax),
            ("apns/properties/request_timeout_seconds", Int(pool.requestTimeoutSeconds)),
        ] {
            #expect(try property("config", "/properties/\(pointer)")["default"]?.int == Int(value), "\(pointer)")
        }
        let socket = ConnectOptions()
        for (name, seconds) in [
            ("resolve_timeout", socket.resolveSecondsMax), ("connect_timeout", socket.connectSecondsMax),
            ("tls_timeout", socket.handshakeSecondsMax), ("user_timeout", socket.userTimeoutSeconds),
        ] {
            #expect(
                try property("config", "/$defs/socket/properties/\(name)_seconds")["default"]?.int == seconds, "\(name)"
            )
        }
        for (name, range) in [
            ("send_buffer_bytes", ConnectOptions.bufferBytesMin...ConnectOptions.bufferBytesMax),
            ("receive_buffer_bytes", ConnectOptions.bufferBytesMin...ConnectOptions.bufferBytesMax),
            ("dscp", 0...ConnectOptions.dscpMax),
        ] {
            let option = try property("config", "/$defs/socket/properties/\(name)")
            #expect(option["minimum"]?.int == range.lowerBound && option["maximum"]?.int == range.upperBound, "\(name)")
        }
        let waits = try property("config", "/properties/retry/properties/delays")["default"]?.elements
        #expect(waits?.compactMap { $0.string } == retry.waits.map(\.label))
        let interval = try property("config", "/properties/fleet/properties/report_interval")["default"]?.string
        #expect(interval == WaitDelay(seconds: WorkerConfiguration.Fleet().reportIntervalSeconds).label)
        for (name, seconds) in [("age_max", retry.ageSecondsMax), ("hold_max", retry.holdSecondsMax)] {
            let label = try property("config", "/properties/retry/properties/\(name)")["default"]?.string
            #expect(label == WaitDelay(seconds: seconds).label)
        }
    }

    private func property(_ schema: String, _ pointer: String) throws -> JSONValue {
        let path = Products.file("schemas/\(schema).schema.json")
        let document = try JSONDocument(try FileReader.bytes(of: path, bytesMax: 1 << 20))
        return try #require(document.root.at(pointer: pointer))
    }
}
