import EventLoop
import JSON
import TestKit
import Testing

@testable import APNSSimulator

@Suite struct PageRouteTests {
    @Test func `Every file of the page is served unchanged`() async throws {
        try await AdminSimulator.run { simulator in
            for file in PageFile.all {
                let response = try await simulator.request("GET", file.path)
                #expect(response.status == 200)
                #expect(Array(response.body.utf8) == file.bytes)
                #expect(response.headers["content-type"] == file.contentType)
                for (name, value) in PageFile.headers { #expect(response.headers[name] == value) }
            }
        }
    }

    @Test func `Only the page's root is listed`() async throws {
        try await AdminSimulator.run { simulator in
            let body = try await simulator.request("GET", "/v1/nothing").body
            #expect(body.hasPrefix(#"{"error":"unknown path; known paths: GET /, GET /health, "#))
            #expect(!body.contains("page.css"))
        }
    }
}
