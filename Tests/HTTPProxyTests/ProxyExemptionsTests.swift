import EventLoop
import HTTPProxy
import Testing

@Suite struct ProxyExemptionsTests {
    @Test(arguments: [
        ("", "api.push.apple.com", false), ("push.apple.com", "api.push.apple.com", true),
        (".push.apple.com", "api.push.apple.com", true), ("push.apple.com", "push.apple.com", true),
        ("push.apple.com", "apipush.apple.com", false), ("example.com, Apple.COM", "api.push.apple.com", true),
        ("apple.com:443", "api.push.apple.com", true), ("apple.com:2197", "api.push.apple.com", false),
        ("*.apple.com", "api.push.apple.com", true), ("*.apple.com", "api.push.example.com", false),
        ("*", "api.push.apple.com", true), (".", "api.push.apple.com", false),
        ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.12", false), ("2001:db8::1", "2001:db8::1", true),
        ("[2001:db8::1]:443", "2001:db8::1", true), ("[2001:db8::1]", "2001:db8::2", false),
        // Loopback hosts are exempt without being listed. `127.example.com` is not a loopback host.
        ("", "localhost", true), ("", "apns.localhost", true), ("", "127.0.0.1", true), ("", "::1", true),
        ("", "127.example.com", false),
    ])
    func parsesTheListAsOtherProgramsDo(_ list: String, _ host: String, _ isExempt: Bool) {
        #expect(ProxyExemptions(list).contains(Endpoint(host: host, port: 443)) == isExempt)
    }
}
