import TestKit
import Testing

@testable import APNSSimulator

@Suite struct HostsRecipeTests {
    @Test func theGuidesHostsFileHasTheNamesOfTheCertificate() throws {
        let path = Products.file("Sources/Documentation/Simulator/Guide.md")
        let lines = String(decoding: try Files.bytes(of: path), as: UTF8.self).split(separator: "\n")
        let named = lines.filter { $0.hasPrefix("127.0.0.") }.flatMap { $0.split(separator: " ").dropFirst() }
        #expect(Set(named.map(String.init)) == Set(Demonstration.serverNames).subtracting(["localhost"]))
    }
}
