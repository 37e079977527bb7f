import AMQP
import EventLoop
import Testing

@Suite struct AMQPURLTests {
    @Test func everyPartIsRead() throws {
        let url = try AMQPURL(
            "amqps://us%40er:p%2fss%3A@one.example:5673,two.example/my%2Fhost?heartbeat=7&connection_timeout=2500")
        #expect(url.usesTLS)
        #expect(
            url.endpoints == [Endpoint(host: "one.example", port: 5673), Endpoint(host: "two.example", port: 5671)])
        #expect(url.credentials.user == "us@er")
        #expect(url.credentials.password == "p/ss:")
        #expect(url.namesUser)
        #expect(url.virtualHost == "my/host")
        #expect(url.heartbeatSeconds == 7)
        #expect(url.connectionTimeoutMilliseconds == 2500)
    }

    @Test(arguments: [
        "amqp://localhost", "amqp://localhost/", "amqp://localhost:5672/%2f", "amqp://guest:guest@localhost",
    ])
    func defaultsOfMissingParts(text: String) throws {
        let url = try AMQPURL(text)
        #expect(!url.usesTLS)
        #expect(url.endpoints == [Endpoint(host: "localhost", port: 5672)])
        #expect(url.credentials.user == "guest")
        #expect(url.credentials.password == "guest")
        #expect(url.namesUser == text.contains("@"))
        #expect(url.virtualHost == "/")
        #expect(url.heartbeatSeconds == nil)
    }

    // The timeout is in milliseconds. The limits of the steps are in whole seconds, rounded up.
    @Test(arguments: [("2500", 3), ("1000", 1), ("1", 1)]) func theTimeoutLimitsEachStepOfAConnect(
        milliseconds: String, seconds: Int
    ) throws {
        let options = try AMQPURL("amqp://a?connection_timeout=\(milliseconds)").connectOptions
        #expect(options.connectSecondsMax == seconds && options.handshakeSecondsMax == seconds)
    }

    @Test(arguments: ["amqp://a", "amqp://a?connection_timeout=0"])
    func theStepsHaveDefaultLimitsWithoutATimeout(text: String) throws {
        let (options, defaults) = (try AMQPURL(text).connectOptions, ConnectOptions())
        #expect(options.connectSecondsMax == defaults.connectSecondsMax)
        #expect(options.handshakeSecondsMax == defaults.handshakeSecondsMax)
    }

    @Test func ipv6AddressesAreInBrackets() throws {
        let url = try AMQPURL("amqp://u:p@[::1]:5999,[fe80::1%25eth0]/v")
        #expect(
            url.endpoints == [Endpoint(host: "::1", port: 5999), Endpoint(host: "fe80::1%eth0", port: 5672)])
    }

    @Test(arguments: [
        "localhost", "http://localhost", "amqp:localhost", "amqp://", "amqp://:5672", "amqp://a:0", "amqp://a:65536",
        "amqp://a:x",
        "amqp://[::1", "amqp://[::1]x", "amqp://[zz]", "amqp://a,", "amqp://a/b/c", "amqp://a/%zz", "amqp://a/%2",
        "amqp://a/%4:", "amqp://a/%4@", "amqp://a/%4G", "amqp://a/%4`", "amqp://a/%4g",
        "amqp://a/%ff", "amqp://a/%00", "amqp://a?heartbeat=x", "amqp://a?heartbeat=65536", "amqp://a?unknown=1",
        "amqp://a?heartbeat", "amqp://a?heartbeat=-1", "amqp://u:p#x@a/",
    ])
    func invalidURLsAreRejected(text: String) {
        #expect(throws: AMQPError.self) { try AMQPURL(text) }
    }

    @Test(arguments: [
        "amqp://u:s3/cret@a/", "amqp://u:s3?cret@a", "amqp://u:s3/cr?et@a:5672/v", "amqp://u:1234/abc@a",
        "amqp://u:1234?abc@a", "amqp://u:p@ss/word@a",
    ])
    func `An unescaped slash or question mark of a password is named`(text: String) {
        let error = #expect(throws: AMQPError.self) { try AMQPURL(text) }
        #expect(
            error?.message
                == "the AMQP URL has an @ after a / or ?; write %2F for / and %3F for ? in user and password, "
                + "and %40 for @ in the virtual host")
    }

    @Test func errorsAndDescriptionsOmitThePassword() throws {
        let error = #expect(throws: AMQPError.self) { try AMQPURL("amqp://user:s3cret@host:bad/") }
        #expect(!String(reflecting: error).contains("s3cret"))
        let url = try AMQPURL("amqp://user:s3cret@host/")
        var dumped = ""
        dump(url, to: &dumped)
        #expect(!dumped.contains("s3cret"))
        #expect(!"\(url)".contains("s3cret"))
        #expect(!String(reflecting: url.credentials).contains("s3cret"))
        #expect(dumped.contains("user: \"user\""))
    }
}
