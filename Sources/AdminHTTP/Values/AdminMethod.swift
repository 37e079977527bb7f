/// The methods of routes. `HEAD` is served as `GET`.
public enum AdminMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
    case delete = "DELETE"
}
