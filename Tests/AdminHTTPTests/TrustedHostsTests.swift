import TestKit
import Testing

@testable import AdminHTTP

extension TrustedHosts {
    fileprivate func refusal(hosts: [String], origins: [String]) -> AdminResponse? {
        foreign(hosts: hosts, origins: origins).map { refusal($0) }
    }
}

@Suite struct TrustedHostsTests {
    private let hosts = TrustedHosts(listening: "0.0.0.0", names: ["simulator.test", "fd00::1"])

    @Test(arguments: [
        "localhost", "LOCALHOST:2199", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:65535", "simulator.test",
        "Simulator.Test:9000", "[fd00::1]:80", "localhost:",
    ])
    func `The endpoint's own names are accepted`(host: String) {
        let expected: Int? = host == "localhost:" ? 403 : nil
        #expect(hosts.refusal(hosts: [host], origins: [])?.status == expected)
    }

    @Test(arguments: [
        "", ":", ":80", "evil.example", "localhost.evil.example", "evil.example:2199", "localhost:x", "localhost:65536",
        "localhost:1:2", "[::1", "::1", "[::1]x", "127.0.0.1.", "127.0.0.2", "0.0.0.0", "user@localhost", "localhost/",
        "localhost evil", "[::]",
    ])
    func `Foreign names are refused`(host: String) {
        #expect(hosts.refusal(hosts: [host], origins: [])?.status == 403)
    }

    // Beyond loopback, clients use names that an endpoint cannot know, such as a pod's address or a service's name.
    @Test func `Any host is accepted, but no page of another origin`() {
        let hosts = TrustedHosts(listening: "0.0.0.0", names: [], isAnyTrusted: true)
        for host in ["10.1.2.3:9780", "martlet.push.svc", "localhost"] {
            #expect(hosts.refusal(hosts: [host], origins: []) == nil)
            #expect(hosts.refusal(hosts: [host], origins: ["http://\(host)"]) == nil)
            #expect(hosts.refusal(hosts: [host], origins: ["http://evil.example"])?.status == 403)
        }
        for wrong in [[], ["a", "b"], ["a:b:c"]] { #expect(hosts.refusal(hosts: wrong, origins: [])?.status == 403) }
    }

    @Test func `Exactly one Host header is required`() {
        #expect(hosts.refusal(hosts: [], origins: [])?.status == 403)
        #expect(hosts.refusal(hosts: ["localhost", "localhost"], origins: [])?.status == 403)
    }

    @Test func `The listening address is accepted`() {
        let hosts = TrustedHosts(listening: "192.0.2.7", names: [])
        #expect(hosts.refusal(hosts: ["192.0.2.7:2199"], origins: []) == nil)
        #expect(TrustedHosts(listening: "::1", names: []).refusal(hosts: ["[::1]:2199"], origins: []) == nil)
    }

    @Test func `An origin must match the host`() {
        func status(_ origins: String...) -> Int? {
            hosts.refusal(hosts: ["localhost:2199"], origins: origins)?.status
        }
        #expect(status("http://localhost:2199") == nil)
        #expect(status("https://LOCALHOST:2199") == nil)
        for foreign in [
            "null", "", "http://localhost", "http://localhost:3000", "http://127.0.0.1:2199", "http://evil.example",
            "http://localhost:2199.evil.example", "file://",
        ] {
            #expect(status(foreign) == 403, "\(foreign)")
            #expect(status("http://localhost:2199", foreign) == 403, "\(foreign)")
        }
    }

    @Test func `The refusal is JSON and contains the names`() async throws {
        try await AdminServerHarness.run { harness in
            let client = try await harness.connect()
            client.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            let response = try await client.response()
            #expect(response.status == 403)
            #expect(response.headers["content-type"] == "application/json")
            #expect(
                response.body
                    == #"{"error":"the Host header must be one of localhost, 127.0.0.1, [::1], with or without a port"}"#
                    + "\n")
            let foreign = try await client.request("PUT", "/", headers: ["Origin": "https://evil.example"], body: "x")
            #expect(foreign.status == 403)
            #expect(foreign.body == #"{"error":"requests from pages of another origin are refused"}"# + "\n")
            #expect(try await client.request("GET", "/", headers: ["Origin": "http://localhost"]).status == 200)
        }
    }
}
