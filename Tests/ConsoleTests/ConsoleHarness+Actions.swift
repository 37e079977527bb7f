import EventLoop
import JSON
import TestKit
import Testing

extension ConsoleHarness {
    func preview(
        _ session: String, _ action: String, _ arguments: String
    ) async throws -> RawHTTPResponse {
        try await request(
            "POST", "/api/actions?preview=1", session: session,
            body: #"{"action":"\#(action)","arguments":\#(arguments),"why":"repaired"}"#)
    }

    /// Begins the action of a preview.
    func begin(
        _ session: String, _ action: String, _ preview: RawHTTPResponse, id: String
    ) async throws -> RawHTTPResponse {
        let json = try preview.json
        let expect = try #require(json["expect"]?.string, "\(preview.body)")
        let arguments = String(decoding: try #require(json["arguments"]).sourceBytes, as: UTF8.self)
        return try await request(
            "POST", "/api/actions", session: session,
            body: """
                {"id":"\(id)","action":"\(action)","arguments":\(arguments),"why":"repaired","expect":"\(expect)"}
                """)
    }

    func end(_ session: String, _ id: String) async throws -> JSONValue {
        while true {
            let answer = try await request("GET", "/api/actions/\(id)", session: session)
            let json = try answer.json
            guard json["state"]?.string == "running" else { return json }
            await loop.sleep(for: .milliseconds(50))
        }
    }

    /// Plans and runs an action. Returns its last state.
    func act(
        _ session: String, _ action: String, _ arguments: String, id: String
    ) async throws -> JSONValue {
        let begun = try await begin(session, action, try await preview(session, action, arguments), id: id)
        try #require(begun.status == 201, "\(begun.body)")
        return try await end(session, id)
    }
}
