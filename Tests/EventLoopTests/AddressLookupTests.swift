import EventLoop
import TestKit
import Testing

@Suite struct AddressLookupTests {
    /// Returns the addresses of a host, or the error.
    private func addresses(of host: String) async throws -> Result<[String], TransportError> {
        try await onEpollLoop { loop in
            var answer: Result<[String], TransportError>?
            let lookup = AddressLookup(loop: loop, host: host) { answer = $0 }
            #expect(answer == nil)
            try await loop.wait { answer != nil }
            // A cancellation after the completion has no effect.
            lookup.cancel()
            return try #require(answer)
        }
    }

    @Test(arguments: ["127.0.0.1", "::1", "2001:db8::7"])
    func aNumericAddressIsItsOwnResult(host: String) async throws {
        #expect(try await addresses(of: host) == .success([host]))
    }

    @Test func aNameHasAddresses() async throws {
        let found = try await addresses(of: "localhost").get()
        #expect(!found.isEmpty)
        #expect(Set(found).isSubset(of: ["127.0.0.1", "::1"]))
        #expect(Set(found).count == found.count)
    }

    @Test func anUnknownNameIsAnError() async throws {
        let answer = try await addresses(of: "name.invalid")
        guard case .failure(let error) = answer else {
            Issue.record("resolved: \(answer)")
            return
        }
        #expect(error.code == .resolve)
    }

    @Test func aCanceledLookupReportsNothing() async throws {
        try await onEpollLoop { loop in
            for host in ["127.0.0.1", "localhost"] {
                let lookup = AddressLookup(loop: loop, host: host) { _ in Issue.record("reported") }
                lookup.cancel()
            }
            var later: Result<[String], TransportError>?
            let lookup = AddressLookup(loop: loop, host: "localhost") { later = $0 }
            try await loop.wait { later != nil }
            lookup.cancel()
        }
    }
}
