import Crypto
import EventLoop
import TestKit
import Testing

@testable import Delivery
@testable import Operations

/// The lanes of one version of the configuration.
@Suite struct LaneGroupTests {
    private let folder: TemporaryDirectory
    private let group: LaneGroup

    init() throws {
        folder = try TemporaryDirectory("lanes")
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        try folder.write("shape.json", "{}")
        let path = try folder.write(
            "martlet.yaml",
            """
            amqp: {url: amqp://127.0.0.1}
            apns: {keys: [{key_id: ABCDE12345, team_id: TEAM123456, key_file: key.p8}]}
            apps: {com.example.app: {}}
            payload_schemas: {com.example.app: shape.json}
            lanes: 3
            """)
        let version = try ConfigurationVersion(readFrom: path)
        group = try LaneGroup(version, WorkerComponents(version.configuration), log: CapturedLog().log)
    }

    @Test func lanesWithoutAThreadHaveEnded() {
        #expect(throws: TransportError.self) {
            try group.start { index throws(TransportError) in
                if index == 1 { throw TransportError(.resources, "no thread can be started") }
            }
        }
        #expect(group.undrained == [0] && group.turning == [0] && group.ended == [1, 2])
        #expect(!group.hasEnded)
        group.laneDrained(0)
        group.laneEnded(0)
        #expect(group.undrained == [] && group.hasEnded)
    }

    @Test func itTakesNoMoreWhenAllHaveStoppedThatHaveNotEnded() throws {
        try group.start { _ throws(TransportError) in }
        var said = 0
        group.whenTakesNoMore { said += 1 }
        group.laneStopped(0)
        group.laneEnded(1)
        #expect(said == 0)
        group.laneStopped(2)
        #expect(said == 1)
        group.stopWaiting()
        #expect(said == 1)
        group.whenTakesNoMore { said += 1 }
        #expect(said == 2)
    }

    @Test func whoWaitsForThatMayStop() throws {
        try group.start { _ throws(TransportError) in }
        var said = 0
        group.whenTakesNoMore { said += 1 }
        group.stopWaiting()
        #expect(said == 1)
        for lane in 0..<3 { group.laneStopped(lane) }
        #expect(said == 1)
    }

    @Test func payloadSchemasThatItsConfigurationDoesNotNameAreNotTaken() throws {
        var files = group.components.configuration.payloadSchemas
        group.replace(PayloadSchemaFiles())
        #expect(group.payloadSchemas.schemas.map { $0 === files.files[0].schema } == [true])
        try files.files[0].readAgain()
        group.replace(files)
        #expect(group.payloadSchemas.schemas.map { $0 === files.files[0].schema } == [true])
    }
}
