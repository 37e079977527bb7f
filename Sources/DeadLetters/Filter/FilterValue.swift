/// The value of a field or of a comparison's right-hand side.
package enum FilterValue: Equatable, Sendable {
    case text(String)
    case number(Double)
    case milliseconds(Double)
    case boolean(Bool)
    /// The value of a field that does not exist or is null; also the literal `null`.
    case missing
    /// A value that a filter cannot compare, such as an object or array.
    case other
}
