import APNS
import APNSProtocol
import Crypto
import Delivery
import EventLoop
import JSON
import TestKit
import Testing

@testable import Configuration
@testable import MartletCLI
@testable import Worker

/// Certificates in the configuration, each of which contains its topics and environments.
@Suite struct CertificateConfigurationTests {
    private static let authority = try! CertificateAuthority.make()

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try write("shop.pem", "com.example.shop")
        try write("shop-sandbox.pem", "com.example.shop", [.sandbox])
        try write("news.pem", "com.example.news")
        try write("voip.pem", "com.example.news.voip", [.production])
        try directory.write("AuthKey.p8", ES256PrivateKey.generate().pkcs8PEM())
    }

    private func write(
        _ name: String, _ topic: String, _ environments: Set<APNSEnvironment> = [.sandbox, .production]
    ) throws {
        let issued = try Self.authority.issueClient(
            name: "Apple Push Services: \(topic)", userID: topic,
            extensions: PushCertificate.extensions(environments: environments, topics: []))
        try directory.write(name, issued.certificatePEM + issued.privateKeyPEM)
    }

    private static let key = Credential.Name.key(id: "ABC123DEFG", team: "DEF123GHIJ")

    @Test func aPushUsesTheCertificateOfItsTopicOrTheKey() throws {
        let configuration = try load(
            certificates: ["shop.pem", "voip.pem"], hasKey: true,
            apps: "{com.example.shop: {}, com.example.news: {}, com.example.shop2: {}}")
        let shop = Credential.Name.certificate("com.example.shop")
        let voip = Credential.Name.certificate("com.example.news.voip/production")
        let (first, second, third) = (configuration.apps[0], configuration.apps[1], configuration.apps[2])
        for environment in APNSEnvironment.allCases {
            for kind in [AppDirectory.Kind.device(.alert), .device(.background), .broadcast] {
                #expect(first.credentials[environment]?[kind] == shop)
                #expect(second.credentials[environment]?[kind] == Self.key)
            }
            for type in [PushType.voip, .location, .liveactivity] {
                #expect(first.credentials[environment]?[.device(type)] == Self.key, "the key is not used")
            }
            #expect(
                third.credentials[environment]
                    == Dictionary(uniqueKeysWithValues: AppDirectory.Kind.all.map { ($0, Self.key) }))
        }
        #expect(second.credentials[.production]?[.device(.voip)] == voip)
        #expect(second.credentials[.sandbox]?[.device(.voip)] == Self.key)

        let pools = try ConnectionPools(configuration)
        #expect(
            pools.list.map { "\($0.configuration.credential) \($0.configuration.environment)" } == [
                "key ABC123DEFG production", "key ABC123DEFG sandbox", "certificate com.example.shop production",
                "certificate com.example.shop sandbox",
                "certificate com.example.news.voip/production production",
            ])
        #expect(pools.list.map { $0.identity != nil } == [false, false, true, true, true])
        #expect(pools.apps[1].production?[.device(.voip)] == 4 && pools.apps[1].production?[.device(.alert)] == 0)
        #expect(pools.apps[1].sandbox == .init(1))
    }

    @Test func withoutAKeyEachKindOfPushUsesACertificate() throws {
        let configuration = try load(
            certificates: ["news.pem", "voip.pem"], apps: "{com.example.news: {}}")
        let credentials = try #require(configuration.apps[0].credentials[.production])
        let news = Credential.Name.certificate("com.example.news")
        #expect(credentials[.device(.voip)] == .certificate("com.example.news.voip/production"))
        #expect(credentials[.device(.alert)] == news && credentials[.broadcast] == news)
        #expect(credentials[.device(.liveactivity)] == news, "the certificate is not used")
        #expect(credentials[.device(.location)] == nil && credentials[.device(.complication)] == nil)
        #expect(configuration.apps[0].credentials[.sandbox]?[.device(.voip)] == nil)
    }

    @Test func aVoIPCertificateServesOnlyVoIP() throws {
        let configuration = try load(certificates: ["voip.pem"], apps: "{com.example.news: {}}")
        #expect(
            configuration.apps[0].credentials == [
                .production: [.device(.voip): .certificate("com.example.news.voip/production")]
            ])
    }

    @Test func oneOfSeveralCertificatesCanBeChosen() throws {
        let sandbox = Credential.Name.certificate("com.example.shop/sandbox")
        let alone = try load(
            certificates: ["shop.pem", "shop-sandbox.pem"],
            apps: "{com.example.shop: {certificate: shop-sandbox.pem, environment: sandbox}}")
        #expect(alone.apps[0].credentials.keys.map(\.rawValue) == ["sandbox"])
        #expect(alone.apps[0].credentials[.sandbox]?[.device(.alert)] == sandbox)
        #expect(alone.apps[0].credentials[.sandbox]?[.device(.voip)] == nil)

        let beside = try load(
            certificates: ["shop.pem", "shop-sandbox.pem"], hasKey: true,
            apps: "{com.example.shop: {certificate: shop-sandbox.pem, key: ABC123DEFG}}")
        #expect(beside.apps[0].credentials[.sandbox]?[.device(.alert)] == sandbox)
        #expect(beside.apps[0].credentials[.production]?[.device(.alert)] == Self.key)
    }

    @Test(arguments: [
        (
            ["shop.pem"], "{com.example.other: {}}",
            "no certificate for com.example.other: shop.pem is for com.example.shop"
        ),
        (
            ["shop.pem"], "{com.example.other: {certificate: shop.pem}}",
            "shop.pem is for com.example.shop, not for com.example.other"
        ),
        (
            ["shop.pem"], "{com.example.shop: {certificate: shop.p12}}",
            "no file shop.p12 in apns.certificates; did you mean shop.pem?"
        ),
        (
            ["shop.pem", "shop-sandbox.pem"], "{com.example.shop: {}}",
            "several certificates apply: shop.pem and shop-sandbox.pem; set certificate to one of these files"
        ),
        (
            ["shop-sandbox.pem"], "{com.example.shop: {}}",
            "certificate com.example.shop/sandbox does not serve production, the default environment of com.example.shop; "
                + "for another default, set environment: sandbox"
        ),
        (
            ["shop.pem", "shop.pem"], "{com.example.shop: {certificate: shop.pem}}",
            "duplicate certificate for com.example.shop: shop.pem"
        ),
        (
            ["shop.pem"], "{com.example.shop: {certificate: shop.pem, key: ABC123DEFG}}",
            "no key ABC123DEFG in apns.keys"
        ),
        (["gone.pem"], "{com.example.shop: {}}", "cannot read gone.pem: no such file"),
        (["AuthKey.p8"], "{com.example.shop: {}}", "the private key matches no certificate in the file"),
        ([], "{com.example.shop: {}}", "apns requires keys or certificates"),
    ])
    func mismatchesAreReportedWithBothNames(certificates: [String], apps: String, message: String) {
        #expect {
            try load(certificates: certificates, apps: apps)
        } throws: { error in
            let mistakes = (error as? ConfigurationError)?.mistakes.map(\.message) ?? []
            return mistakes == [message]
        }
    }

    @Test func daysOfValidityAreRoundedUp() throws {
        let certificate = try #require(
            try load(certificates: ["shop.pem"], apps: "{com.example.shop: {}}").apns.certificates.first)
        let end = certificate.contents.validSeconds.upperBound
        #expect([-1, 0, 1, 86_400, 86_401].map { certificate.daysLeft(unixSeconds: end - $0) } == [0, 0, 1, 1, 2])
        let begin = certificate.contents.validSeconds.lowerBound
        let days: [(Int64, DoctorLine.State)] = [
            (begin - 1, .failure), (begin, .ok), (end - 30 * 86_400 - 1, .ok), (end - 30 * 86_400, .warning),
            (end - 1, .warning), (end, .failure),
        ]
        for (seconds, state) in days {
            #expect(DoctorCheck.validity(of: certificate, unixSeconds: seconds).state == state)
        }
    }

    // The log covers the certificates of the current configuration.
    @Test func daysOfValidityAreLoggedOnceADay() throws {
        let certificates = try ["shop.pem", "news.pem"].map { file in
            try load(certificates: [file], apps: "{com.example.\(file.dropLast(4)): {}}").apns.certificates
        }
        let (log, loop) = (try CapturedLog(), VirtualLoop(seed: 1))
        defer { loop.end() }
        var inForce = certificates[0]
        loop.enter { CertificateReport.repeat(on: loop, to: log.log) { CertificateReport(certificates: inForce) } }
        var logged: [[Int?]] = []
        for day in 0..<4 {
            if day == 2 { inForce = certificates.flatMap(\.self) }
            var isOver = false
            loop.enter { _ = loop.schedule(after: .seconds(day == 0 ? 1 : 86_400)) { isOver = true } }
            _ = loop.run(limit: .seconds(86_401)) { isOver }
            logged.append(try log.lines().map { try JSONDocument($0).root["apns.certificate_days_left"]?.int })
        }
        let left = try #require(logged.joined().compactMap(\.self).first)
        #expect(logged == [[left], [left - 1], [left - 2, left - 2], [left - 3, left - 3]])
    }

    private func load(certificates: [String], hasKey: Bool = false, apps: String) throws -> WorkerConfiguration {
        let key = "keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]"
        let list = certificates.map { "{file: \($0)}" }.joined(separator: ", ")
        let sections = (hasKey ? [key] : []) + (certificates.isEmpty ? [] : ["certificates: [\(list)]"])
        let path = try directory.write(
            "martlet.yaml", "amqp: {url: amqp://rabbit}\napns: {\(sections.joined(separator: ", "))}\napps: \(apps)\n")
        return try ConfigurationFile(path).worker()
    }
}
