import Text

/// A token of a filter with the offset of its first byte.
package struct FilterToken: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case name(String)
        case text(String)
        case number(Double)
        /// A duration in milliseconds.
        case duration(Double)
        /// An operator or a punctuation mark.
        case symbol(String)
        case end
    }

    package var kind: Kind
    package var offset: Int

    /// The token's description in an error.
    package var shown: String {
        switch kind {
        case .name(let name), .symbol(let name): "'\(name.shortened(to: 40))'"
        case .text: "a string"
        case .number: "a number"
        case .duration: "a duration"
        case .end: "the end of the filter"
        }
    }
}
