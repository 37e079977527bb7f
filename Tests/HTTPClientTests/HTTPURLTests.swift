import HTTPClient
import Testing

@Suite struct HTTPURLTests {
    @Test(arguments: [
        ("http://rabbit", "http://rabbit:80/"),
        ("https://rabbit", "https://rabbit:443/"),
        ("http://rabbit:15672/base/?x=1", "http://rabbit:15672/base/?x=1"),
        ("http://[::1]:9/", "http://[::1]:9/"),
        ("http://guest:s%40cret@rabbit:15672", "http://rabbit:15672/"),
    ])
    func descriptionsOfAURL(text: String, shown: String) throws {
        #expect(try HTTPURL(text).description == shown)
    }

    @Test func credentialsAreNotInTheDescription() throws {
        let url = try HTTPURL("http://guest:s%40cret@rabbit:15672")
        #expect(url.credentials == HTTPURL.Credentials(user: "guest", password: "s@cret"))
        #expect(try HTTPURL("http://rabbit").credentials == nil)
    }

    @Test func anAppendedSegmentIsEncoded() throws {
        let url = try HTTPURL("http://rabbit:15672/proxy/")
        #expect(url.appending("api", "queues", "/", "push.requests").path == "/proxy/api/queues/%2F/push.requests")
        #expect(url.appending("a?b#ü\n").path == "/proxy/a%3Fb%23%C3%BC%0A")
    }

    @Test(arguments: [
        "", "rabbit", "rabbit:15672", "ftp://hunter2@rabbit", "file:///etc/passwd", "http://",
        "http://a b/", "http://a:0/", "http://a:99999/", "http://a:hunter2/", "http://a\u{0}b/", "http://a/\u{A}b",
        "amqp://hunter2@a",
        "http://" + String(repeating: "a", count: 9000),
    ])
    func aTextThatIsNoURLIsRefusedWithoutBeingQuoted(text: String) {
        #expect {
            _ = try HTTPURL(text)
        } throws: { error in
            guard let error = error as? HTTPError else { return false }
            return error.code == .invalidRequest && !error.message.contains("hunter2")
        }
    }
}
