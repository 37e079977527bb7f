import Crypto
import TestKit
import Testing

@testable import APNSProtocol

@Suite struct PushCertificateTests {
    @Test func topicsAreThoseOfTheSubjectAndTheExtensions() throws {
        #expect(try AppleAuthority.read(AppleAuthority.single).topics == ["com.example.app"])
        #expect(
            try AppleAuthority.read(AppleAuthority.several).topics
                == ["com.example.app", "com.example.app.voip", "com.example.app.complication"])
        #expect(try AppleAuthority.read(AppleAuthority.certificate(topic: nil)).topics == [])
    }

    @Test func environmentsAreThoseOfTheExtensions() throws {
        for environments in [[.sandbox], [.production], [.sandbox, .production]] as [Set<APNSEnvironment>] {
            #expect(
                try AppleAuthority.read(AppleAuthority.certificate(environments: environments)).environments
                    == environments)
        }
        let none = try AppleAuthority.read(AppleAuthority.certificate(environments: []))
        #expect(none.environments == [.sandbox, .production])
    }

    // In Apple's certificates, the list has this form: `30 64 0C 0F com.example.app 30 05 0C 03 app …`.
    @Test func theListOfTopicsIsASequenceOfTextsAndSequences() {
        let list = DERSequence.sequence(
            DERSequence.text("a.b") + DERSequence.sequence(DERSequence.text("app")) + [0x16, 1, 0x63])
        #expect(list == [0x30, 15, 0x0C, 3, 0x61, 0x2E, 0x62, 0x30, 5, 0x0C, 3, 0x61, 0x70, 0x70, 0x16, 1, 0x63])
        #expect(DERSequence.texts(in: list) == ["a.b", "c"])
        let long = String(repeating: "x", count: 300)
        #expect(DERSequence.texts(in: DERSequence.sequence(DERSequence.text(long))) == [long])
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 5], [5, 0], [0x30, 3, 0x0C, 9, 0x61], [0x30, 0x80], [0x30, 0x84, 0, 0, 0, 1, 0],
            [0x30, 0x82, 1], [0x30, 2, 0x0C],
        ] as [[UInt8]])
    func otherBytesContainNoTopics(bytes: [UInt8]) {
        #expect(DERSequence.texts(in: bytes) == [])
    }
}
