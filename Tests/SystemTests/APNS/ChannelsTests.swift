import APNSProtocol
import JSON
import TestKit
import Testing

extension SystemTests {
    /// `martlet channels` over TLS, as a developer uses it to prepare the broadcasts of a Live Activity.
    @Suite struct Channels {
        private static let app = "com.example.app"

        @Test func aChannelIsMadeReadPushedToListedAndDeleted() async throws {
            let fixture = try await Self.fixture("channels")
            let made = try await channels(fixture, "create", "--storage", "newest")
            #expect(made.exit.status == .exited(0) && made.errors == [] && made.output.count == 2)
            #expect(made.output.first?.hasPrefix("CHANNEL ") == true && made.output.first?.hasSuffix("STORAGE") == true)
            let id = try #require(made.output.last?.split(separator: " ").first.map(String.init))
            #expect(made.output.last?.hasSuffix("  newest") == true)

            let read = try await channels(fixture, "read", id)
            #expect(read.exit.status == .exited(0) && read.output == made.output)
            let other = try await channels(fixture, "create", "--storage", "none", "--json")
            let answer = try JSONDocument(try #require(other.output.first)).root
            #expect(answer["outcome"]?.string == "done" && answer["status"]?.int == 201)
            #expect(answer["storage_policy"]?.string == "none" && answer["environment"]?.string == "production")
            let otherID = try #require(answer["channel_id"]?.string)

            let listed = try await channels(fixture, "list")
            #expect(Set(listed.output) == [id, otherID] && listed.errors == ["2 channels of \(Self.app)"])
            let json = try await channels(fixture, "list", "--json")
            let ids = try JSONDocument(try #require(json.output.first)).root["channels"]?.elements.compactMap(\.string)
            #expect(Set(ids ?? []) == [id, otherID])

            let request = try fixture.directory.write(
                "update.json",
                #"""
                {"id":"6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10","app":"\#(Self.app)","channel_id":"\#(id)",
                 "push_type":"liveactivity","payload":{"aps":{"timestamp":1,"event":"update","content-state":{}}}}
                """#)
            let pushed = try await ChildProcess.run([
                Products.executable("martlet"), "push", "--config", fixture.configuration, request,
            ])
            #expect(pushed.exit.status == .exited(0), "\(pushed.errors)")

            let deleted = try await channels(fixture, "delete", id, otherID)
            #expect(deleted.exit.status == .exited(0))
            #expect(deleted.output == ["deleted  \(id)", "deleted  \(otherID)"])
            #expect(try await channels(fixture, "list").output == [])
            let gone = try await channels(fixture, "read", id, otherID)
            #expect(gone.exit.status == .exited(1) && gone.output == [])
            #expect(
                gone.errors
                    == [id, otherID].map {
                        "refused  \($0): APNs answered 400 ChannelNotRegistered. The channel does not exist: create the "
                            + "channel, or remove the channel ID."
                    }, "\(gone.errors)"
            )
            try await fixture.end()
            let away = try await channels(fixture, "delete", id, otherID)
            #expect(away.exit.status == .exited(3) && away.errors.count == 1)
        }

        /// Checks refusals by the simulator, which applies Apple's rules.
        @Test func refusalsByAPNsAreReportedWithTheirReason() async throws {
            let fixture = try await Self.fixture("channels-refused")
            func refused(_ arguments: String...) async throws -> String? {
                let run = try await ChildProcess.run(
                    [Products.executable("martlet"), "channels"] + arguments
                        + ["--config", fixture.configuration, "--app", Self.app, "--json"])
                #expect(run.exit.status == .exited(1), "\(run.output) \(run.errors)")
                let answer = try JSONDocument(try #require(run.output.first)).root
                #expect(answer["outcome"]?.string == "refused" && answer["channel_id"] == nil || arguments[0] == "read")
                return answer["reason"]?.string
            }
            #expect(try await refused("read", "dW5rbm93bi11bmtub3du") == "ChannelNotRegistered")
            #expect(try await refused("read", String(repeating: "abcd", count: 17)) == "BadChannelId")

            // Create the maximum number of channels of an app.
            let state = String(
                decoding: try await fixture.apns.request("GET", "/v1/state").root.sourceBytes, as: UTF8.self)
            let channels = (0..<APNSLimits.channelsPerAppMax).map {
                #"{"app":"\#(Self.app)","environment":"production","id":"\#($0 + 10_000_000)","storage_policy":0}"#
            }
            let full = state.replacing(#""channels":[]"#, with: #""channels":[\#(channels.joined(separator: ","))]"#)
            try #require(full.utf8.count > channels.count)
            try await fixture.apns.request("PUT", "/v1/state", full)
            #expect(try await refused("create", "--storage", "none") == "CannotCreateChannelConfig")

            try await fixture.apns.request("PUT", "/v1/teams/DEMOTEAM01/apps/\(Self.app)", "{}")
            #expect(try await refused("create", "--storage", "none") == "FeatureNotEnabled")
            #expect(try await refused("list") == "FeatureNotEnabled")
            try await fixture.apns.request("PUT", "/v1/teams/OTHERTEAM1", "{}")
            try await fixture.apns.request("PUT", "/v1/teams/OTHERTEAM1/apps/\(Self.app)", #"{"broadcast":true}"#)
            #expect(try await refused("list") == "TopicMismatch")
            try await fixture.end()
        }

        @Test func invalidArgumentsAreRejectedBeforeTheRequest() async throws {
            let fixture = try await Self.fixture("channels-wrong")
            for (arguments, words) in [
                (
                    ["list", "--app", "com.example.ap"],
                    "app com.example.ap is not configured; did you mean com.example.app?"
                ),
                (
                    ["list", "--app", Self.app, "--environment", "sandbox"],
                    "apns.endpoints.sandbox overrides the host"
                ),
                (["create", "--app", Self.app, "--storage", "some"], "none"),
                (["read", "--app", Self.app], "CHANNEL"),
            ] {
                let run = try await ChildProcess.run(
                    [Products.executable("martlet"), "channels"] + arguments + ["--config", fixture.configuration])
                #expect(run.exit.status == .exited(2) && run.errors.joined().contains(words), "\(run.errors)")
            }
        }

        private static func fixture(_ name: String) async throws -> SystemFixture {
            try await SystemFixture(
                name,
                SystemFixture.Options(
                    simulator: ["--listen-production-channels", "127.0.0.1:0"], hasSandbox: true))
        }

        private func channels(
            _ fixture: SystemFixture, _ arguments: String...
        ) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
            try await ChildProcess.run(
                [Products.executable("martlet"), "channels"] + arguments
                    + ["--config", fixture.configuration, "--app", Self.app])
        }
    }
}
