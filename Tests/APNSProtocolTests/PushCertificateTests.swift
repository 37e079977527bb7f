import Crypto
import Testing

@testable import APNSProtocol

/// Certificates as Apple's authority would have issued them.
private enum Issued {
    static let authority = try! CertificateAuthority.make(name: "Tests")

    static func certificate(
        topic: String? = "com.example.app", environments: Set<APNSEnvironment> = [.sandbox, .production],
        topics: [(String, String)] = [], validity: CertificateAuthority.Validity = .init()
    ) -> IssuedCertificate {
        try! authority.issueClient(
            name: "Apple Push Services", userID: topic,
            extensions: PushCertificate.extensions(environments: environments, topics: topics), validity: validity)
    }

    /// Of one topic, and of several.
    static let single = certificate()
    static let several = certificate(topics: [
        ("com.example.app", "app"), ("com.example.app.voip", "voip"), ("com.example.app.complication", "complication"),
    ])

    static func read(_ issued: IssuedCertificate) throws -> PushCertificate {
        PushCertificate(try CertificateContents(pem: Array(issued.certificatePEM.utf8)))
    }
}

@Suite struct PushCertificateTests {
    @Test func topicsAreTheSubjectsAndTheExtensions() throws {
        #expect(try Issued.read(Issued.single).topics == ["com.example.app"])
        #expect(
            try Issued.read(Issued.several).topics
                == ["com.example.app", "com.example.app.voip", "com.example.app.complication"])
        #expect(try Issued.read(Issued.certificate(topic: nil)).topics == [])
    }

    @Test func environmentsAreExtensionsToo() throws {
        for environments in [[.sandbox], [.production], [.sandbox, .production]] as [Set<APNSEnvironment>] {
            #expect(try Issued.read(Issued.certificate(environments: environments)).environments == environments)
        }
        let none = try Issued.read(Issued.certificate(environments: []))
        #expect(none.environments == [.sandbox, .production])
    }

    /// As Apple's certificates have it: `30 64 0C 0F com.example.app 30 05 0C 03 app …`.
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
    func otherBytesListNothing(bytes: [UInt8]) {
        #expect(DERSequence.texts(in: bytes) == [])
    }
}
