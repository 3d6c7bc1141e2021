"""The closed rewrite: everyday words of a request, and what the papers of a bank call them.

Nothing is generated: a term is added where one of its words stands in the request, the request
itself stays as it is, and what was added is kept with the result. The list is English; a request
without any of its words is searched for as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

TERMS: Mapping[str, str] = MappingProxyType(
    {
        "financial institution": "bank|banks|credit union|branch",
        "automated teller machine": "cash machine|cashpoint|atm|atms|cash dispenser",
        "access device": "debit card|bank card|plastic|pin",
        "remittance transfer": "abroad|overseas|another country|foreign country|international "
        "payment|international payments|international transfer|back home|money transfer company",
        "designated recipient": "family abroad|relative abroad|pick up|picks up|arrive|arrives|"
        "arrived",
        "gift card or gift certificate": "voucher|vouchers|present card|gift",
        "fee": "charge|charges|charged|cost|costs|surcharge",
        "error": "mistake|mistakes|wrong|dispute|disputed|complain|complaint",
        "loss or theft": "stolen|lost|theft|robbed|snatched",
        "unauthorized electronic fund transfer": "fraud|scam|thief|hacked|stranger|copied|"
        "did not make|took out money",
        "preauthorized electronic fund transfer": "automatic|autopay|standing order|direct debit|"
        "subscription|monthly debit|recurring|instalments",
        "stop payment": "cancel my|stop my|stop the",
        "request to cancel": "call off|calling off|call it off|regret|undo",
        "disclosures": "paperwork|papers|told|tell me|details",
        "notice": "warning|warned|warn|inform|informed",
        "receipt": "slip|slips|proof of payment",
        "periodic statement": "summary|statement|statements|account activity",
        "payroll card account": "wages|wage|salary|paid by my employer|employees|workers",
        "condition of employment": "employer|boss",
        "overdraft service": "overdrawn|overdraw|no money|exceeds my balance|run out of money|"
        "below zero|shortfall|shortfalls",
        "affirmative consent opt in": "agreed|agree|never agreed|sign up|change my mind",
        "merchant": "shop|shops|store|retailer|till",
        "government benefits": "welfare|public assistance|food stamps|social security",
        "information to third parties": "share my|shares my|privacy|my data|with others",
        "change in terms": "raises|raise|increases its|new terms|tighten",
        "extension of credit": "loan|loans|lender|lend",
        "repayment by preauthorized transfers": "repayment|repay",
        "joint account holders": "wife|husband|spouse|together|share an account|partner",
        "investigate": "look into|looks into|looking into|investigates|probe",
        "provisional credit": "temporarily|temporary|put back",
        "expiration date": "expire|expired|expires|valid|outdated",
        "dormancy or inactivity fee": "unused|not used|never used",
        "evidence of compliance record retention": "keep proof|keep records|keep papers",
        "wire transfer": "wire|wires",
        "securities or commodities": "stocks|shares|broker|bonds",
        "check, draft, or similar paper instrument": "cheque|cheques|draft|paper check",
        "estimate": "guess|guesses|roughly|approximately",
        "unsolicited issuance": "never asked for|did not ask for|not asked for|unrequested",
        "refund": "money back|get it back|fees back|reimbursed",
        "mobile application or text message": "app|texting|sms",
        "foreign language": "spanish|chinese|portuguese|french|in my language",
        "point-of-sale debit card transaction": "purchase|purchases",
        "telephone": "phone|call|ring",
        "incorrect account number": "typed|mistyped|mistyping|wrong bank details",
        "liability of consumer": "lose|owe|liable|on the hook",
        "agent acting for the provider": "on behalf",
    }
)
"""What to add, and the words that ask for it."""


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b")


def added(request: str) -> tuple[str, ...]:
    """The terms that a request's everyday words stand for and that it does not hold itself."""
    folded = request.casefold()
    return tuple(
        term
        for term, words in TERMS.items()
        if _pattern(words).search(folded) and term not in folded
    )


def rewritten(request: str) -> str:
    """The request with its added terms behind it; the request itself where there are none."""
    terms = added(request)
    return f"{request} ({'; '.join(terms)})" if terms else request
