import EventLoop
import TLS
import Testing

@testable import Crypto

@Suite struct HandshakeTests {
    @Test func `Descriptions of an identity omit the key`() {
        let identity = TLSIdentity(certificateChainPEM: "chain", privateKeyPEM: "hunter2")
        var dumped = ""
        dump(TLSServerConfiguration(identity: identity), to: &dumped)
        #expect(dumped.contains("chain"))
        #expect(!"\(identity) \(String(reflecting: identity)) \(dumped)".contains("hunter2"))
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `Both versions carry bytes both ways`(version: TLSVersion) throws {
        var client = TLSClientConfiguration.trusting
        client.versionMax = version
        client.applicationProtocols = ["h2", "http/1.1"]
        client.requiresApplicationProtocol = true
        var server = TLSServerConfiguration.trusted
        server.applicationProtocols = ["h2"]
        server.requiresApplicationProtocol = true
        let wire = try Wire(client: client, server: server)
        wire.server.onReceived = { $0.send($0.received.count == 4 ? "pong" : "") }
        wire.client.onConnected = { $0.send("ping") }

        #expect(wire.start { wire.client.received.count == 4 } == .done)
        #expect(wire.server.received == Array("ping".utf8) && wire.client.received == Array("pong".utf8))
        for end in [wire.client, wire.server] {
            #expect(end.tls?.version == version)
            #expect(end.tls?.applicationProtocol == "h2")
        }
        #expect(wire.client.tls?.hasVerifiedPeerCertificate == true)
        #expect(wire.server.tls?.hasVerifiedPeerCertificate == false)
        wire.close()
        #expect(wire.client.error == nil && wire.server.error == nil && wire.server.hasPeerFinished)
    }

    @Test func `A version below the minimum is named in the error`() throws {
        var client = TLSClientConfiguration.trusting
        client.versionMax = .tls12
        var server = TLSServerConfiguration.trusted
        server.versionMin = .tls13
        let wire = try Wire(client: client, server: server)
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.client.error?.code == .tls)
        #expect(wire.client.error?.message.contains("no TLS version in common") == true)
        #expect(wire.server.error?.message.contains("no TLS version in common") == true)
    }

    @Test func `A certificate for another host is named in the error`() throws {
        let wire = try Wire(Wire.Options(serverName: "api.push.apple.com"))
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.client.error?.code == .certificate && !wire.client.isConnected && !wire.server.isConnected)
        #expect(
            wire.client.error?.message
                == "server.test:443: the server's certificate is for a host name other than api.push.apple.com")
        #expect(wire.server.error?.message.contains("does not accept the local certificate") == true)
    }

    /// Only alternative names count (RFC 9525, 2).
    @Test func `A certificate with the name only in its subject is refused`() throws {
        let key = try P256Key.generate()
        let certificate = try X509Certificate(
            subject: "localhost", key: key, issuer: "localhost", issuerKey: key,
            validity: CertificateAuthority.Validity(), extensions: []
        ).pem()
        let identity = TLSIdentity(certificateChainPEM: certificate, privateKeyPEM: try key.pkcs8PEM())
        let wire = try Wire(client: .init(trust: .pem(certificate)), server: .init(identity: identity))
        #expect(wire.start { wire.areConnected || wire.areClosed } == .done)
        #expect(wire.client.error?.message.contains("for a host name other than localhost") == true)
    }

    @Test(arguments: [
        ("127.0.0.1", nil), ("127.0.0.2", "an address other than 127.0.0.2"), ("::1", "an address other than"),
    ])
    func `Addresses are verified as addresses`(name: String, expectedText: String?) throws {
        let wire = try Wire(Wire.Options(serverName: name))
        #expect(wire.start { wire.areConnected || wire.areClosed } == .done)
        #expect(wire.client.isConnected == (expectedText == nil))
        if let expectedText { #expect(wire.client.error?.message.contains(expectedText) == true) }
        if expectedText == nil { wire.close() }
    }

    @Test(arguments: ["", "a\u{0}b"])
    func `An invalid name is an error in the next event-loop iteration`(name: String) throws {
        let wire = try Wire(Wire.Options(serverName: name))
        #expect(wire.start { wire.client.isClosed } == .done)
        #expect(wire.client.error?.code == .tls)
    }

    @Test func `An untrusted authority is named in the error`() throws {
        let wire = try Wire(client: TLSClientConfiguration(trust: .pem(Certificates.stranger.certificatePEM)))
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.client.error?.code == .certificate && wire.client.error?.isRetriable == false)
        #expect(wire.client.error?.message.contains("authority that is not trusted") == true)
    }

    @Test func `The machine's authorities do not trust a test certificate`() throws {
        let wire = try Wire(client: TLSClientConfiguration(trust: .system))
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.client.error?.message.contains("authority that is not trusted") == true)
    }

    @Test(arguments: [(-7200, -3600, "has expired"), (3600, 7200, "not valid yet")])
    func `An invalid validity period is named in the error`(from: Int, until: Int, expectedText: String) throws {
        let issued = try Certificates.authority.issueServer(
            dnsNames: ["localhost"], validity: .init(fromSeconds: from, untilSeconds: until))
        let wire = try Wire(server: TLSServerConfiguration(identity: Certificates.identity(issued)))
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.client.error?.code == .certificate)
        #expect(wire.client.error?.message.contains(expectedText) == true)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `A client presents a required certificate`(version: TLSVersion) throws {
        var client = TLSClientConfiguration.trusting
        client.versionMax = version
        client.identity = Certificates.client
        var server = TLSServerConfiguration.trusted
        server.clientTrust = .pem(Certificates.authority.certificatePEM)
        server.requiresClientCertificate = true
        let wire = try Wire(client: client, server: server)
        #expect(wire.start { wire.areConnected } == .done)
        #expect(wire.server.tls?.hasVerifiedPeerCertificate == true)
        wire.close()
    }

    @Test func `A client without the required certificate gets a clear error`() throws {
        var server = TLSServerConfiguration.trusted
        server.clientTrust = .pem(Certificates.authority.certificatePEM)
        server.requiresClientCertificate = true
        let wire = try Wire(server: server)
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.client.error?.message.contains("requires a client certificate") == true)
        #expect(wire.server.error?.code == .certificate && !wire.server.isConnected)

        server.requiresClientCertificate = false
        let second = try Wire(server: server)
        #expect(second.start { second.areConnected } == .done)
        #expect(second.server.tls?.hasVerifiedPeerCertificate == false)
        second.close()
    }

    @Test func `A client certificate of another authority is refused`() throws {
        var client = TLSClientConfiguration.trusting
        client.identity = Certificates.identity(try Certificates.stranger.issueClient(name: "intruder"))
        var server = TLSServerConfiguration.trusted
        server.clientTrust = .pem(Certificates.authority.certificatePEM)
        let wire = try Wire(client: client, server: server)
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.server.error?.code == .certificate)
        #expect(wire.server.error?.message.contains("the client's certificate is signed by an authority") == true)
        #expect(wire.client.error?.message.contains("does not accept the local certificate") == true)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `Any certificate may be requested, and none need be presented`(version: TLSVersion) throws {
        var server = TLSServerConfiguration.trusted
        server.requestsAnyClientCertificate = true
        server.versionMax = version
        let issued = try Certificates.stranger.issueClient(name: "anybody")
        var client = TLSClientConfiguration.trusting
        client.identity = Certificates.identity(issued)
        var judged: [[UInt8]] = []
        let wire = try Wire(
            client: client, server: server,
            .init(admits: {
                judged.append($0)
                return true
            }))
        #expect(wire.start { wire.areConnected } == .done)
        let shown = try #require(wire.server.tls?.peerCertificate)
        #expect(judged == [shown])
        #expect(
            try CertificateContents(der: shown).sha256
                == CertificateContents(pem: Array(issued.certificatePEM.utf8)).sha256)
        #expect(wire.server.tls?.hasVerifiedPeerCertificate == false)
        wire.close()

        let without = try Wire(server: server, .init(admits: { _ in false }))
        #expect(without.start { without.areConnected } == .done)
        #expect(without.server.tls?.peerCertificate == nil)
        without.close()
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `A certificate that is not admitted is refused as revoked`(version: TLSVersion) throws {
        var server = TLSServerConfiguration.trusted
        server.requestsAnyClientCertificate = true
        server.versionMax = version
        var client = TLSClientConfiguration.trusting
        client.identity = Certificates.client
        let wire = try Wire(client: client, server: server, .init(admits: { _ in false }))
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.client.error?.message.contains("revoked") == true, "\(wire.client.error?.message ?? "")")
        #expect(!wire.server.isConnected)
    }

    /// A server that supports only TLS 1.1 answers with alert 70 (protocol_version).
    @Test func `A server of an old version is named in the error`() throws {
        let error = try errorAfterAlert(70, client: .trusting)
        #expect(error?.code == .tls && error?.message.contains("no TLS version in common") == true)
    }

    /// The alerts 40 (handshake_failure), 49 (access_denied) and 51 (decrypt_error) have no specific cause. The other
    /// alerts are about certificates, from bad_certificate to unknown_ca. Servers also send them to a client that
    /// presented no certificate.
    @Test(arguments: [UInt8(40), 49, 51, 42, 43, 44, 45, 46, 48], [true, false])
    func `An alert refuses a presented certificate`(alert: UInt8, showsCertificate: Bool) throws {
        var client = TLSClientConfiguration.trusting
        client.identity = showsCertificate ? Certificates.client : nil
        let error = try errorAfterAlert(alert, client: client)
        #expect(error?.code == (showsCertificate ? .certificateRefused : .tls), "\(error?.message ?? "")")
    }

    /// Returns the error of a client that receives a fatal alert instead of a ServerHello.
    private func errorAfterAlert(_ alert: UInt8, client: TLSClientConfiguration) throws -> TransportError? {
        let loop = VirtualLoop(seed: 1)
        let endpoint = Endpoint(host: "server.test", port: 443)
        let context = try TLSContext(client: client)
        let (refusing, refused) = (End(), End())
        refusing.onConnected = { $0.send([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, alert]) }
        try loop.enter {
            _ = try loop.listen(on: endpoint) { $0.handler = refusing }
            let below = ByteConnector(loop: loop, endpoint: endpoint)
            refused.transport = TLSConnector(over: below, context: context, serverName: "localhost").connect(refused)
        }
        #expect(loop.run(limit: .seconds(60), until: { refused.isClosed }) == .done)
        loop.enter { refusing.transport?.close() }
        #expect(loop.run(limit: .seconds(60), until: { refusing.isClosed }) == .done)
        return refused.error
    }

    @Test(arguments: [
        ([String](), ["h2"], true), (["http/1.1"], ["h2"], true), (["http/1.1", "h3"], ["h2", "h2c"], true),
        (["http/1.1"], ["h2"], false),
    ])
    func `Without a common protocol the handshake fails`(
        offered: [String], wanted: [String], isRequired: Bool
    ) throws {
        var client = TLSClientConfiguration.trusting
        client.applicationProtocols = offered
        var server = TLSServerConfiguration.trusted
        server.applicationProtocols = wanted
        server.requiresApplicationProtocol = isRequired
        let wire = try Wire(client: client, server: server)
        #expect(wire.start { wire.areClosed } == .done)
        #expect(wire.server.error?.code == .tls && !wire.server.isConnected)
        #expect(wire.server.error?.message.contains("ALPN") == true)
    }

    @Test func `A client that requires h2 refuses a server without ALPN`() throws {
        var client = TLSClientConfiguration.trusting
        client.applicationProtocols = ["h2"]
        client.requiresApplicationProtocol = true
        let wire = try Wire(client: client)
        #expect(wire.start { wire.client.isClosed } == .done)
        #expect(wire.client.error?.message == "server.test:443: the peer did not agree to h2 (ALPN)")
        #expect(!wire.client.isConnected)
    }

    @Test func `A context names invalid certificates and keys`() throws {
        let other = try Certificates.authority.issueClient(name: "other")
        func message(_ make: () throws -> TLSContext) -> String {
            do {
                _ = try make()
                return ""
            } catch let error as CryptoError {
                return error.message
            } catch {
                return "\(error)"
            }
        }
        let chain = Certificates.server.certificateChainPEM
        #expect(
            message {
                try TLSContext(
                    server: .init(identity: .init(certificateChainPEM: chain, privateKeyPEM: other.privateKeyPEM)))
            }.contains("does not match"))
        #expect(
            message { try TLSContext(server: .init(identity: .init(certificateChainPEM: chain, privateKeyPEM: ""))) }
                .contains("cannot read the private key"))
        #expect(
            message { try TLSContext(server: .init(identity: .init(certificateChainPEM: "", privateKeyPEM: ""))) }
                .contains("no CERTIFICATE"))
        let broken = String(chain.prefix(300)) + "\n-----END CERTIFICATE-----\n"
        #expect(message { try TLSContext(client: .init(trust: .pem(broken))) }.contains("cannot read"))
        #expect(message { try TLSContext(client: .init(trust: .pem("nothing"))) }.contains("no CERTIFICATE"))
        #expect(message { try TLSContext(client: .init(applicationProtocols: [""])) }.contains("ALPN"))
    }

    /// Both sides verify the chain. Without the intermediate certificate, the chain does not end at a trusted root.
    @Test(arguments: [true, false])
    func `A chain through an intermediate authority and two roots in one file are accepted`(
        isWhole: Bool
    ) throws {
        let between = try Certificates.authority.intermediate(name: "Between")
        func identity(_ issued: IssuedCertificate) -> TLSIdentity {
            var identity = Certificates.identity(issued)
            if isWhole { identity.certificateChainPEM += between.certificatePEM }
            return identity
        }
        let roots = Certificates.stranger.certificatePEM + Certificates.authority.certificatePEM
        let worker = identity(try between.issueClient(name: "worker"))
        let localhost = identity(try between.issueServer(dnsNames: ["localhost"]))
        for (isServers, client) in [(true, nil), (false, worker)] {
            var server = TLSServerConfiguration(identity: isServers ? localhost : Certificates.server)
            if !isServers {
                server.clientTrust = .pem(roots)
                server.requiresClientCertificate = true
            }
            let wire = try Wire(client: .init(trust: .pem(roots), identity: client), server: server)
            _ = wire.start { wire.areConnected || wire.areClosed }
            #expect(wire.areClosed == !isWhole)
            if !isWhole {
                let error = isServers ? wire.client.error : wire.server.error
                #expect(error?.message.contains("authority that is not trusted") == true, "\(error?.message ?? "-")")
            }
            wire.close()
        }
    }
}
